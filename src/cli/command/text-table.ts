/** A table of text in aligned columns, two spaces apart. */
export function textTable(lines: readonly (readonly string[])[]): string {
  const widths =
    lines[0]?.map((_, column) =>
      lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0),
    ) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
