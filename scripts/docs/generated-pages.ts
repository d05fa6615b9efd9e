import { readFileSync } from 'node:fs'
import { apiTables } from './api-tables.ts'
import { configurationTable } from './configuration-table.ts'
import { withGeneratedPart } from './generated-part.ts'
import { HANDLERS_PAGE, handlersPage } from './handlers-page.ts'
import { MUTANTS_PAGE, mutantsPage } from './mutants-page.ts'

/** A page of `docs/` that is made from the code, from the root of the repository. */
export interface GeneratedPage {
  readonly path: string
  /** What is checked in. */
  readonly is: string
  /** What the code makes of it. */
  readonly shouldBe: string
}

/** Every page that `npm run docs` writes. */
export async function generatedPages(): Promise<readonly GeneratedPage[]> {
  const made = [
    [HANDLERS_PAGE, () => handlersPage()],
    [MUTANTS_PAGE, () => mutantsPage()],
    [
      'docs/configuration.md',
      (page: string) => withGeneratedPart('docs/configuration.md', page, configurationTable()),
    ],
    ['docs/api.md', async (page: string) => withGeneratedPart('docs/api.md', page, await apiTables())],
  ] as const
  return Promise.all(
    made.map(async ([path, make]) => {
      const is = readFileSync(path, 'utf8')
      return { path, is, shouldBe: await make(is) }
    }),
  )
}
