import { format, resolveConfig } from 'prettier'

/**
 * The page with the part between its two comments made anew, as it is checked in; what is written by hand around it stays. `by` is the npm script
 * that the comments name.
 */
export async function withGeneratedPart(
  path: string,
  page: string,
  part: string,
  by = 'docs',
): Promise<string> {
  const generated = new RegExp(
    `(<!-- made by npm run ${by} [^\\n]*-->\\n).*(<!-- end of what npm run ${by} makes -->)`,
    's',
  )
  if (!generated.test(page))
    throw new Error(`${path} has lost the comments between which npm run ${by} writes`)
  const made = page.replace(generated, (_, begin: string, end: string) => `${begin}\n${part}\n${end}`)
  return format(made, { ...(await resolveConfig(path)), parser: 'markdown' })
}

/** A table in Markdown; `format` aligns it. */
export function markdownTable(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rows] = lines
  return [head, head.map(() => '-'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('')
}
