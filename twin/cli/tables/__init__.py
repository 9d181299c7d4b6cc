"""Tables that commands print, from the results of the analyses."""
