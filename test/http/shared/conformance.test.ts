import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/postgres.ts'

const TESTS = fileURLToPath(new URL('../../', import.meta.url))

/** Of the family of workflows one surface is enough here: the others are the same family in other words, above what a database knows of. */
const OTHER_WORDS = 'conformance (applications|evaluators) '

/** What reads alone is answered by the folder of the server, which is the same whatever its store is. */
const ONLY_READ = ': (queries|query strings|retrieval|entity tags|log|diff|diff of documents|windowing) '

/**
 * The tests of the interface are run over files by themselves; here those of each kind of payload that write are run again, as they are, over a
 * database. `npm run proof -- engine` runs all of them so.
 */
describe('the interface over PostgreSQL', () => {
  let postgres: PostgresServer
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  it('is what it is over files', async function () {
    this.timeout(900_000) // hundreds of tests, on a machine with other work
    const mocha = fileURLToPath(new URL('../../../../node_modules/mocha/bin/mocha.js', import.meta.url))
    const required = ['memory-disk.js', 'test-settings.js'].flatMap((name) => ['--require', TESTS + name])
    const args = ['--no-config', ...required, '--timeout', '180000', '--reporter', 'json']
    args.push('--grep', `${OTHER_WORDS}|${ONLY_READ}`, '--invert')
    const files = ['conformance/*', 'traces/endpoints', 'traces/saved-queries'].map(
      (name) => `${TESTS}http/${name}.test.js`,
    )
    const child = spawn(process.execPath, [mocha, ...args, ...files], {
      env: { ...process.env, TEST_STORE: await postgres.database() },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const report = JSON.parse(said.slice(said.indexOf('{\n'))) as Report
    expect(report.failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`)).to.deep.equal([])
    expect(report.stats.passes).to.be.above(500)
  })
})

/** What mocha's reporter `json` writes, as far as it is read here. */
interface Report {
  readonly stats: { readonly passes: number }
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message: string } }[]
}
