"""What a path says about the role of a file."""

import pytest

from codesearch.roles import Role, role_of


@pytest.mark.parametrize(
    "path",
    [
        "tests/depot.py",
        "src/test/java/Depot.java",
        "pkg/depot_test.go",
        "web/depot.spec.ts",
        "test_depot.py",
        "DepotTest.java",
        "DepotTests.cs",
        "test/depot.bats",
        "src/commonTest/kotlin/Depot.kt",
        "src/jvmTest/kotlin/Depot.kt",
        "app/src/androidTest/Depot.kt",
        "app/src/androidUnitTest/Depot.kt",
        "Depot.Tests/Shelves.cs",
        "Depot.UnitTests/Shelves.cs",
        "src/Depot.Test/Shelves.cs",
        "HTTPTests/Client.swift",
        "depot-tests/lib.rs",
        "DepotSpec.scala",
        "src/DepotSpec.hs",
        "DepotSpec.kt",
        "DepotSpec.swift",
        "DepotSpec.rb",
        "depot_spec.rb",
        "DepotSpecs.cs",
        "DepotSuite.scala",
        "spec/depot_spec.lua",
        "lua/depot_spec.lua",
    ],
)
def test_path_of_a_test(path):
    assert role_of(path) == Role.TEST


@pytest.mark.parametrize(
    "path",
    [
        "latest/depot.py",
        "src/Latest.java",
        "src/contest.cs",
        "src/greatest.php",
        "src/Inspec.rb",
        "pytest/depot.py",
        "src/Depot.java",
        "src/Suite.java",
        "src/OpenApiSpec.java",
        "src/protest/Depot.kt",
        "TestSupport.txt.py",
    ],
)
def test_path_of_no_test(path):
    assert role_of(path) == Role.NONE


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("Forms/Main.Designer.cs", Role.GENERATED),
        ("Forms/Main.g.cs", Role.GENERATED),
        ("api/depot.pb.go", Role.GENERATED),
        ("Forms/Designer.cs", Role.NONE),
        ("examples/depot.py", Role.EXAMPLE),
        ("third_party/x/depot_test.cc", Role.VENDORED | Role.TEST),
        ("docs/depot.md", Role.DOCS),
    ],
)
def test_other_roles(path, role):
    assert role_of(path) == role
