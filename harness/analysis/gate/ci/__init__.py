"""A gate's decision as CI systems read it: JUnit XML, Markdown, annotations, SARIF."""
