import type { GeneratedPage } from '../docs/generated-pages.ts'
import type { SourceFile } from './source-file.ts'

const MOST_README_LINES = 300

/** The README is for the first ten minutes of a user. */
export function longReadme(text: string): string[] {
  const lines = text.split('\n').length - 1
  return lines > MOST_README_LINES
    ? [
        `README.md has ${lines} lines, which is more than ${MOST_README_LINES}: move what is not for the first ten minutes to docs`,
      ]
    : []
}

/** A page that is made from the code is what the code makes of it; a row that it lacks, such as a route, is named. */
export function stalePages(pages: readonly GeneratedPage[]): string[] {
  return pages.flatMap(({ path, is, shouldBe }) => {
    if (is === shouldBe) return []
    const there = new Set(firstCells(is))
    const missing = firstCells(shouldBe).filter((cell) => !there.has(cell))
    return [
      ...missing.map((cell) => `${path} lacks ${cell}: run npm run docs`),
      ...(missing.length === 0 ? [`${path} is not what npm run docs makes of the code: run it`] : []),
    ]
  })
}

/** Variables that the source reads by their names, and the page on the configuration does not have. */
export function undocumentedVariables(files: readonly SourceFile[], page: string): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(READ)]
      .map(([, dotted, quoted, passed]) => dotted ?? quoted ?? passed ?? '')
      .filter((name) => !page.includes(`\`${name}`))
      .map((name) => `${path} reads ${name}, which docs/configuration.md does not have`),
  )
}

/** `env.NAME`, `environment['NAME']`, `read(env, 'NAME')` and `read(env, ['NAME'])`. */
const READ =
  /\benv(?:ironment)?(?:\.([A-Z][A-Z0-9_]+)|\['([A-Z][A-Z0-9_]+)'\]|, \[?'([A-Z][A-Z0-9]*_[A-Z0-9_]+)')/g

/** What the rows of the tables begin with. */
function firstCells(page: string): string[] {
  return [...page.matchAll(/^\| (`[^|]*`) +\|/gm)].map(([, cell = '']) => cell.trimEnd())
}
