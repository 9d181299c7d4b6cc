"""The link to a machine: samples as datagrams, transport, and the emulated machine."""
