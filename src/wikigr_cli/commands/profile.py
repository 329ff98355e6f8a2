"""``wikigr profile``: list, show, validate and compare profiles."""

from __future__ import annotations

from functools import partial

from wikigr.errors import UsageError
from wikigr_cli.command import Result, command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.options import Profile
from wikigr_cli.render.output import Document, counted
from wikigr_cli.render.settings import print_differences, print_profile, print_profiles

NAME = Profile(metavar="PROFILE", help="The name of a profile, or its YAML file.")


@command(print_profiles)
def list_profiles(environment: Environment) -> Document:
    """List the profiles that ship with wikigr and your own.

    Your own are in the folder `profiles` beside the user settings.

    Examples:
      wikigr profile list
      wikigr profile list --json
    """
    from wikigr.pipeline.profile import profile_names
    from wikigr.pipeline.profile_files import load_profile

    profiles = []
    for name in profile_names():
        try:
            profiles.append({"name": name, "description": load_profile(name).description})
        except UsageError as error:
            environment.print_error(f"wikigr: {error.message}")
    return {"profiles": profiles}


@command(print_profile, name=NAME)
def show(name: str) -> Document:
    """Print every key of a profile, also the inherited ones.

    Examples:
      wikigr profile show enhanced
      wikigr profile show fast --json
    """
    from wikigr.pipeline.profile_files import load_profile
    from wikigr.pipeline.profile_schema import profile_values

    return {"profile": profile_values(load_profile(name))}


@command(names=Profile(metavar="PROFILE...", help="The names of profiles, or their YAML files."))
def validate(environment: Environment, names: list[str]) -> None:
    """Check profiles and print the first mistake of each.

    A mistake is named with its file, line and key, and the exit code is 2.

    Examples:
      wikigr profile validate mine.yaml
      wikigr profile validate fast precise
    """
    from wikigr.pipeline.profile_files import load_profile

    invalid = 0
    for name in names:
        try:
            load_profile(name)
        except UsageError as error:
            invalid += 1
            environment.report(error)
        else:
            environment.print(f"{name}: ok")
    if invalid:
        raise UsageError(f"{invalid} of {counted(len(names), 'profiles')} cannot be used.")


@command(first=NAME, second=Profile(metavar="OTHER", help="The name or YAML file of the profile to compare."))
def diff(first: str, second: str) -> Result:
    """Print the keys in which two profiles differ, with both values.

    Examples:
      wikigr profile diff baseline enhanced
      wikigr profile diff enhanced mine.yaml --json
    """
    from wikigr.pipeline.profile_files import differences, load_profile

    rows = [
        {"key": key, first: left, second: right}
        for key, left, right in differences(load_profile(first), load_profile(second))
    ]
    return {"differences": rows}, partial(print_differences, first=first, second=second)


profile = group(
    """List, show, validate and compare profiles.

    Examples:
      wikigr profile list
    """,
    {"list": list_profiles, "show": show, "validate": validate, "diff": diff},
)
