"""`Record`: frozen fields that go to JSON and back, written once for every part of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from biasgauge.core.json_types import JsonMapping, JsonObject
from biasgauge.core.plain import check_object, fields_to_plain, read_record, record_from_plain, to_plain

if TYPE_CHECKING:
    from pydantic_core import CoreSchema


@dataclass(frozen=True)
class Record:
    """A part of a result: frozen fields that go to JSON and back.

    A class may set `renamed` where the key in JSON is not the field's name, leave fields out of JSON with `hidden`
    (they then need a default), and add keys that follow from the fields in `derived`.
    """

    renamed: ClassVar[Mapping[str, str]] = {}
    hidden: ClassVar[frozenset[str]] = frozenset()

    def derived(self) -> JsonMapping:
        """Keys of the JSON that follow from the fields; left aside when it is read back."""
        return {}

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; undefined numbers are None beside their reason."""
        own = {self.renamed.get(name, name): value for name, value in fields_to_plain(self, self.hidden).items()}
        return {**own, **{name: to_plain(value) for name, value in self.derived().items()}}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The record of which `to_dict` made `content`.

        Raises:
            InputError: it is something else; names the key.
        """
        back = {key: name for name, key in cls.renamed.items()}
        check_object(cls, content)
        record: Self = record_from_plain(cls, {back.get(key, key): value for key, value in content.items()})
        return record

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Inside another record, pydantic leaves reading to `from_dict`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(partial(read_record, cls))
