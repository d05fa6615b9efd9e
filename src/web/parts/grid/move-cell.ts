/** A place of a grid, both counted from 0; column 0 is the frozen one. */
export interface GridPlace {
  readonly row: number
  readonly column: number
}

/** Where a key leads from a place; undefined for a key that leads nowhere. `page` is how many rows are seen at once. */
export function placeAfterKey(
  { row, column }: GridPlace,
  key: string,
  isFar: boolean,
  { rows, columns, page }: { readonly rows: number; readonly columns: number; readonly page: number },
): GridPlace | undefined {
  const to = (newRow: number, newColumn = column): GridPlace => ({
    row: Math.min(Math.max(newRow, 0), rows - 1),
    column: Math.min(Math.max(newColumn, 0), columns - 1),
  })
  switch (key) {
    case 'ArrowDown':
      return to(isFar ? rows - 1 : row + 1)
    case 'ArrowUp':
      return to(isFar ? 0 : row - 1)
    case 'ArrowRight':
      return to(row, isFar ? columns - 1 : column + 1)
    case 'ArrowLeft':
      return to(row, isFar ? 0 : column - 1)
    case 'j':
      return isFar ? undefined : to(row + 1)
    case 'k':
      return isFar ? undefined : to(row - 1)
    case 'PageDown':
      return to(row + page)
    case 'PageUp':
      return to(row - page)
    case 'Home':
      return to(isFar ? 0 : row, 0)
    case 'End':
      return to(isFar ? rows - 1 : row, columns - 1)
    default:
      return undefined
  }
}
