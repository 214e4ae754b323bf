"""A field for the path of a folder with a model, a button that chooses one, and one that has it listed. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QDir, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLineEdit, QPushButton, QWidget

from sayso.ui.theme import Theme

_PATH_UNITS = 40


class FolderField(QWidget):
    """Emits ``wanted`` with what was typed, or with the folder that was chosen."""

    wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.path = QLineEdit()
        self.path.setAccessibleName("A folder of your own with a model")
        self.path.setPlaceholderText("Whisper or Voxtral Realtime")
        self.path.setMinimumWidth(theme.spacing.times(_PATH_UNITS))
        self.path.setClearButtonEnabled(True)
        self.choose = QPushButton("&Choose…")
        self.choose.setAccessibleName("Choose a folder with a model")
        self.add = QPushButton("&Add")
        self.add.setAccessibleName("Add the folder to the models")
        self.path.textChanged.connect(lambda text: self.add.setEnabled(bool(text.strip())))
        self.path.returnPressed.connect(self._want)
        self.add.clicked.connect(self._want)
        self.choose.clicked.connect(self._ask_which)
        self.add.setEnabled(False)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.spacing.s)
        for column, widget in enumerate((self.path, self.choose, self.add)):
            layout.addWidget(widget, 0, column)
        layout.setColumnStretch(0, 1)

    def _want(self) -> None:
        if self.path.text().strip():
            self.wanted.emit(self.path.text())

    def _ask_which(self) -> None:
        typed = QDir(self.path.text().strip())
        start = typed.absolutePath() if self.path.text().strip() and typed.exists() else QDir.homePath()
        dialog = QFileDialog(self, "A folder with a model", start)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, "&Add")
        dialog.fileSelected.connect(self.take)
        # open() returns at once; exec() would stop every task of the event loop until the dialog closes.
        dialog.open()

    def take(self, folder: str) -> None:
        """Have a chosen folder listed; it stands in the field until that is done."""
        self.path.setText(QDir.toNativeSeparators(folder))
        self._want()
