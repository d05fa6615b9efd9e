/** A table that was pasted: rows of cells, each a text. */
export type PastedTable = readonly (readonly string[])[]

/**
 * The table in a clipboard, as spreadsheets and web pages write it: tab-separated text, else a table of HTML, else the lines of the text. Formulas
 * stay texts.
 */
export async function tableIn(plain: string, html: string): Promise<PastedTable> {
  const fromHtml = plain.includes('\t') ? undefined : tableInHtml(html)
  if (fromHtml) return fromHtml
  const text = plain.replace(/\r\n?|\u2028/g, '\n').replace(/\n$/, '')
  if (!text.includes('"')) return text.split('\n').map((line) => line.split('\t'))
  const { parse } = await import('papaparse')
  const { data, errors } = parse<string[]>(text, { delimiter: '\t', newline: '\n' })
  // A quote that no spreadsheet wrote is part of its cell.
  return errors.length === 0 ? data : text.split('\n').map((line) => line.split('\t'))
}

function tableInHtml(html: string): PastedTable | undefined {
  if (!/<table[\s>]/i.test(html)) return undefined
  const table = new DOMParser().parseFromString(html, 'text/html').querySelector('table')
  /** By column, the index of the first row that no cell above reaches into. */
  const free: number[] = []
  const rows = [...(table?.rows ?? [])].map((row, at) => {
    const line: string[] = []
    const skip = (): void => {
      while ((free[line.length] ?? 0) > at) line.push('')
    }
    for (const cell of row.cells) {
      skip()
      // A merged cell fills its first place and leaves the others empty, as in the text that spreadsheets write.
      for (let step = 0; step < cell.colSpan; step++) {
        free[line.length] = at + cell.rowSpan
        line.push(step === 0 ? textIn(cell) : '')
      }
    }
    skip()
    return line
  })
  return rows.length === 0 ? undefined : rows
}

/** The text of a cell as a browser would show it: white space and `&nbsp;` are a space, `<br>` and paragraphs are lines. */
function textIn(cell: HTMLTableCellElement): string {
  for (const hidden of cell.querySelectorAll('script, style')) hidden.remove()
  for (const br of cell.querySelectorAll('br')) br.replaceWith('\uE000')
  for (const block of cell.querySelectorAll('p, div, li')) block.append('\uE000')
  return (cell.textContent ?? '')
    .replace(/[ \t\r\n]+/g, ' ')
    .replace(/ ?\uE000 ?/g, '\n')
    .replaceAll('\u00A0', ' ')
    .trim()
}

/** Cells as spreadsheets read them: tab-separated, in quotes what has a tab or a line, or begins with a quote. */
export function textOfTable(rows: PastedTable): string {
  return rows
    .map((row) =>
      row.map((cell) => (/^"|[\t\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join('\t'),
    )
    .join('\n')
}
