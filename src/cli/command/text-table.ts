/**
 * A table of text in aligned columns, two spaces apart. If it does not fit into `width` columns, the widest cells are cut; if that is not
 * enough, each row becomes a paragraph with a line for each cell, of which nothing is cut.
 */
export function textTable(lines: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string {
  const natural = (lines[0] ?? []).map((_, column) => widest(lines.map((line) => line[column] ?? '')))
  const widths = fitted(natural, width - GAP.length * (natural.length - 1))
  if (!widths) return paragraphs(lines)
  return lines
    .map((line) =>
      line
        .map((cell, column) => padded(cell, widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

const GAP = '  '
/** A cell that is cut keeps this much. */
const LEAST_WIDTH = 12

/** Widths whose sum is at most `room`, taken from the widest columns; undefined if there is no such. */
function fitted(natural: readonly number[], room: number): readonly number[] | undefined {
  const widths = [...natural]
  for (let sum = widths.reduce((all, it) => all + it, 0); sum > room; sum--) {
    const its = widths.reduce((most, it) => Math.max(most, it), 0)
    if (its <= LEAST_WIDTH) return undefined
    widths[widths.indexOf(its)] = its - 1
  }
  return widths
}

function widest(cells: readonly string[]): number {
  return cells.reduce((most, cell) => Math.max(most, textWidth(cell)), 0)
}

function padded(cell: string, width: number): string {
  const missing = width - textWidth(cell)
  if (missing >= 0) return cell + ' '.repeat(missing)
  let cut = ''
  for (const { segment } of segmentsOf(cell)) {
    if (textWidth(cut + segment) > width - 1) break
    cut += segment
  }
  return `${cut}…${' '.repeat(width - 1 - textWidth(cut))}`
}

function paragraphs([head = [], ...rows]: readonly (readonly string[])[]): string {
  const titles = widest(head)
  const lineOf = (title: string, cell: string): string => `${padded(title, titles)}${GAP}${cell}`.trimEnd()
  return rows.map((row) => row.map((cell, at) => lineOf(head[at] ?? '', cell)).join('\n')).join('\n\n')
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** How many columns of a terminal a text takes: two for a Chinese character or an emoji, none for an accent of its own. */
function textWidth(text: string): number {
  // eslint-disable-next-line no-control-regex
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of segmentsOf(text)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** Made on demand, since most text is ASCII. */
function segmentsOf(text: string): Iterable<{ readonly segment: string }> {
  return new Intl.Segmenter().segment(text)
}
