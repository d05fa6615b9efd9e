import { format, resolveConfig } from 'prettier'

const PART = /(<!-- made by npm run docs [^\n]*-->\n).*(<!-- end of what npm run docs makes -->)/s

/** The page with the part between its two comments made anew, as it is checked in; what is written by hand around it stays. */
export async function withGeneratedPart(path: string, page: string, part: string): Promise<string> {
  if (!PART.test(page)) throw new Error(`${path} has lost the comments between which npm run docs writes`)
  const made = page.replace(PART, (_, begin: string, end: string) => `${begin}\n${part}\n${end}`)
  return format(made, { ...(await resolveConfig(path)), parser: 'markdown' })
}

/** A table in Markdown; `format` aligns it. */
export function markdownTable(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rows] = lines
  return [head, head.map(() => '-'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('')
}
