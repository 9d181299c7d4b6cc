"""The page of an identification: one HTML file that loads nothing."""

from twin.identification.result.report.page import page_of, write_report

__all__ = ["page_of", "write_report"]
