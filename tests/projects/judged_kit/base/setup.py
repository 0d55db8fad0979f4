from setuptools import setup

setup(name="shelf", version="0.9", packages=["shelf"])
