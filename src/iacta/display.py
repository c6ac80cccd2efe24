"""Display: values that show themselves in a notebook."""

from importlib import import_module

__all__ = ["Displayed"]


class Displayed:
    """A value that a notebook shows as its answer: the sentence, its tables and its picture.

    What is shown is made from the answers and the charts, which stand above the values. So they are
    looked up here, by name, when a value is shown, and nowhere else below.
    """

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        bundle: dict[str, str] = import_module("iacta.answers.notebook").bundle(self)
        return bundle
