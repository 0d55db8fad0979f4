"""A decision as CI systems read it: JUnit XML, GitHub's summary and annotations, SARIF. Texts only, no files."""
