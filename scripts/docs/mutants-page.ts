import { format, resolveConfig } from 'prettier'
import { keptMutants, type Mutant } from '../proofs/mutants/kept-mutants.ts'
import { markdownTable } from './generated-part.ts'

/** Where the page stands, from the root of the repository. */
export const MUTANTS_PAGE = 'docs/mutants.md'

const HEAD = `<!-- Made from scripts/proofs/mutants/mutants.json: run npm run docs. -->

# Mutants

Small faults in the lines that run for the requests of [the ways](architecture.md#ways), one a file, chosen by a seed: a condition negated, a statement
removed, a constant changed, a return before the end. \`npm run proof -- mutants\` puts each into a copy of the program and runs the tests that
reach its file until one fails ([how](../scripts/README.md#proofs)). The texts before and after are in \`scripts/proofs/mutants/mutants.json\`.
`

/** The page on mutants: what each breaks, and which test says so. */
export async function mutantsPage(): Promise<string> {
  const rows = keptMutants().map((mutant, index) => [
    `${index + 1}`,
    `\`${mutant.file}\``,
    mutant.breaks,
    outcomeOf(mutant),
  ])
  const table = markdownTable([['', 'file', 'what it breaks', 'killed by'], ...rows])
  const page = `${HEAD}\n<!-- prettier-ignore -->\n${table}`
  return format(page, { ...(await resolveConfig(MUTANTS_PAGE)), parser: 'markdown' })
}

function outcomeOf({ killedBy, changesNothing }: Mutant): string {
  if (changesNothing !== undefined) return `changes nothing: ${changesNothing}`
  if (!killedBy) return 'nothing yet'
  const source = killedBy.file.replace(/^dist\//, '').replace(/\.js$/, '.ts')
  return `\`${source}\`: ${killedBy.test.replaceAll('<', '\\<')}`
}
