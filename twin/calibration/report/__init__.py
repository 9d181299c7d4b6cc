"""Result of a calibration for people: sentences, and one HTML file that loads nothing."""

from twin.calibration.report.findings import error_rows, findings
from twin.calibration.report.page import page_of, write_report

__all__ = ["error_rows", "findings", "page_of", "write_report"]
