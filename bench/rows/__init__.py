"""One module a row of the table in docs/performance.md; each has `measure(quick) -> list[Row]`."""
