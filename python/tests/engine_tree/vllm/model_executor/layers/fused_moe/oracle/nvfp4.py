import a_package_of_another_date  # noqa: F401
