"""A replacement policy of one's own: second chance. See docs/how-to/own-code.md."""

from collections import OrderedDict

import headrace

Page = tuple[int, int]


class SecondChance(headrace.ReplacementPolicy):
    """Evicts the page that came in first, unless it was used since then."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.used: OrderedDict[Page, bool] = OrderedDict()

    def access(self, page: Page) -> None:
        self.used[page] = True

    def insert(self, page: Page) -> None:
        self.used[page] = False

    def evict(self, incoming: Page) -> Page:
        while True:
            page, used = self.used.popitem(last=False)
            if not used:
                return page
            self.used[page] = False

    def remove(self, page: Page) -> None:
        del self.used[page]
