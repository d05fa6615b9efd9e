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
  const rows = [...(table?.rows ?? [])].map((row) => [...row.cells].map(textIn))
  return rows.length === 0 ? undefined : rows
}

/** The text of a cell as a browser would show it: white space is one space, `<br>` and paragraphs are lines. */
function textIn(cell: HTMLTableCellElement): string {
  for (const br of cell.querySelectorAll('br')) br.replaceWith('\uE000')
  for (const block of cell.querySelectorAll('p, div, li')) block.append('\uE000')
  return (cell.textContent ?? '')
    .replace(/[ \t\r\n]+/g, ' ')
    .replace(/ ?\uE000 ?/g, '\n')
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
