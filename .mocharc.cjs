// Which tests run, and in which order. `npm test` runs those that say what the server does; TESTS=rest those that need more time or more
// programs; TESTS=all both.
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')

/** The folders of the second tier, each with what makes it slow. `npm run test:rest` runs them. */
const REST = [
  'test/web/', // a Chromium
  'test/documents/', // every block of every page, as a reader would type it
  'test/cli/', // a process for each command
  'test/cluster/postgres/', // a PostgreSQL
  'test/http/shared/', // several servers over it
  'test/http/backup', // bundles of many repositories
  'test/http/leaks/', // every route, with every form of reference
  'test/compat/', // stores of earlier versions, servers that die
  'test/clients/', // SDKs of other products
  'test/scripts/', // builds and packs the project
  'scripts/test/', // samples of the proofs and benches
]

/** How many milliseconds each file took when `npm run test:times` ran last. A file that is missing there took less than a second, or is new. */
const TIMES = join(__dirname, 'test', 'times.json')
const times = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {}

const tier = process.env.TESTS ?? 'first'
const isOfTier = (name) =>
  tier === 'all' || REST.some((folder) => name.startsWith(folder)) === (tier === 'rest')

const files = ['test', 'scripts/test']
  .flatMap((folder) =>
    readdirSync(join(__dirname, 'dist', folder), { recursive: true }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith('.test.js') && isOfTier(name))
  // The longest first: a long one that starts last would run alone, on one of the cores.
  .sort((a, b) => (times[b] ?? 0) - (times[a] ?? 0) || (a < b ? -1 : 1))

module.exports = {
  require: [
    './dist/test/memory-disk.js',
    './dist/test/test-settings.js',
    ...(process.env.TEST_TIMES ? ['./dist/test/test-times.js'] : []),
  ],
  spec: files.map((name) => `dist/${name}`),
  parallel: true,
  // For two cores. Tests wait for connections and processes, those of the second half more.
  jobs: tier === 'first' ? 3 : 4,
  timeout: 180_000,
  'node-option': ['enable-source-maps'],
}
