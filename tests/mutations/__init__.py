"""Wrong models on purpose: every one has to fail a measure of the report.

`python -m mutations` (with `tests` on the path) runs all of them and writes the table in
`validation/mutations.md`.
"""
