import { readFileSync, readdirSync } from 'node:fs'
import {
  deadLinks,
  doubledRules,
  outsideCitations,
  rulesOf,
  unknownRules,
  unnamedRules,
  type CheckedText,
} from './check-imports/citations.ts'
import { circles } from './check-imports/circles.ts'
import { longReadme, stalePages, undocumentedVariables } from './check-imports/documents.ts'
import { doubledNames, foldableFiles, longFiles, spreadArguments } from './check-imports/house-rules.ts'
import { otherMechanisms } from './check-imports/mechanisms.ts'
import { pagesOverBudget } from './check-imports/page-budget.ts'
import {
  crossImports,
  ROOT,
  roomCircles,
  tooWide,
  unusedDoors,
  wrongImports,
  wrongPackages,
} from './check-imports/room-rules.ts'
import { readSource } from './check-imports/source-file.ts'
import { wrongInWeb } from './check-imports/web-rules.ts'
import { generatedPages } from './docs/generated-pages.ts'

/**
 * Checks the rules of the house (`npm run check`): there are at most twelve rooms, which use only rooms below them, and of those only their doors, at most twelve; no
 * circles; a file has at most 500 lines; a room exports a name once; a concern has one mechanism; what one file of a room alone imports is one file with it; no list is spread into the arguments of a call; `src` needs nothing of `test` or `scripts`, `scripts` of `test` only `test/support`, and `test` no proof and no bench; the README is short, and every route and
 * variable is documented; comments cite rules of `docs/interface.md` and nothing of elsewhere, and links in documents lead somewhere. Prints what does not hold, and then exits with 1.
 */
const WEB = `${ROOT}/web`
const source = readSource(ROOT, WEB)
const web = readSource(WEB)
const scripts = readSource('scripts')
const tests = readSource('test')
const shared = tests.filter(({ path }) => path.startsWith('test/support/'))
const documents = readDocuments()
const rules = rulesOf(readFileSync('docs/interface.md', 'utf8'))
const texts = [...source, ...web, ...scripts, ...tests, ...documents]
const proofTests = scripts.filter(({ path }) => path.startsWith('scripts/test/'))
const unnamed = unnamedRules([...tests, ...proofTests], rules)
const problems = [
  ...source.flatMap(wrongImports),
  ...source.flatMap(wrongPackages),
  ...[...source, ...scripts, ...tests].flatMap(crossImports),
  ...roomCircles(),
  ...wrongInWeb(web),
  ...pagesOverBudget(),
  ...circles(web),
  ...longFiles(web),
  ...doubledNames(web),
  ...tooWide(source),
  ...unusedDoors(source),
  ...circles(source),
  ...circles([...scripts, ...shared]),
  ...longFiles([...source, ...scripts, ...shared]),
  ...[source, web].flatMap(foldableFiles),
  ...doubledNames(source),
  ...[source, web].flatMap(spreadArguments),
  ...otherMechanisms(source),
  ...longReadme(readFileSync('README.md', 'utf8')),
  ...undocumentedVariables(source, readFileSync('docs/configuration.md', 'utf8')),
  ...stalePages(await generatedPages()),
  ...outsideCitations(texts),
  ...doubledRules(rules),
  ...unknownRules(texts, rules),
  ...deadLinks(documents),
  ...unnamed.map(
    (number) => `docs/interface.md: no test names interface ${number}, the rule that it asserts`,
  ),
]
const imports = source.reduce((sum, file) => sum + file.imports.length, 0)
process.stdout.write(
  problems.length > 0
    ? `${problems.join('\n')}\n`
    : `the house: ${source.length + web.length} files, ${imports} imports, all of them downwards and on surfaces\n` +
        `the interface: ${rules.length} rules, ${rules.length - unnamed.length} of them named by tests\n`,
)
process.exitCode = problems.length > 0 ? 1 : 0

/** The pages of the repository that people read. */
function readDocuments(): CheckedText[] {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
  return [...readdirSync('.'), ...pages]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}
