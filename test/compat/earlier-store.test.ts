import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

/** The sources' folder: what is stored as an example is not built. */
const EXAMPLE = fileURLToPath(new URL('../../../test/compat/earlier-store', import.meta.url))

interface Answered {
  readonly method: string
  readonly path: string
  readonly body: object
  readonly answer: any
}

describe('compat: a store that an earlier server wrote', () => {
  const answers = JSON.parse(readFileSync(`${EXAMPLE}/answers.json`, 'utf8')) as readonly Answered[]
  let storeDir: string
  let refsBefore: readonly string[]
  let service: RunningService

  const refs = (): string[] =>
    readdirSync(join(storeDir, 'default'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.git'))
      .sort()
      .map((path) => `${path}\n${git(join(storeDir, 'default', path), ['for-each-ref'])}`)

  const shownByGit = (): string[] =>
    refs().flatMap((text) => {
      const [path = ''] = text.split('\n')
      return git(join(storeDir, 'default', path), ['log', '--all', '--format=%s']).split('\n')
    })

  before(async () => {
    const folder = temporaryFolder()
    execFileSync('tar', ['-xzf', `${EXAMPLE}/store.tgz`, '-C', folder])
    storeDir = join(folder, 'store')
    refsBefore = refs()
    service = await startService({ storeDir })
  })
  after(() => service.stop())

  for (const { method, path, body, answer } of answers) {
    it(`answers ${method} ${path} ${JSON.stringify(body)} as that one did`, async () => {
      const now = await service.call(method, path, body)
      expect(now.status, now.text).to.equal(200)
      const subjects: string[] = []
      const shown = JSON.parse(now.text.replaceAll(service.url, 'http://server'), (name, value) => {
        // A flag of testsets that there was not.
        if (name === 'search' && value === false) return undefined
        if (name !== 'subject') return value
        subjects.push(value)
        return undefined
      })
      expect(shown).to.deep.equal(answer)
      // That one answered none: they are what git shows of its commits, trailers where nothing else was said.
      expect(shownByGit()).to.include.members(subjects)
    })
  }

  it('has the same refs, is whole for git, and goes on', async () => {
    expect(refs()).to.deep.equal(refsBefore)
    expect(git(service.repository('support-bot'), ['fsck', '--strict'])).to.equal('')
    const clone = temporaryFolder()
    git('/', ['clone', '-q', service.repository('support-bot'), clone])
    expect(git(clone, ['log', '--format=%s'])).to.contain('Answer shortly')
    const [, log] = answers
    const variant = log?.answer.workflow_revisions[0].workflow_variant_id
    const commit = { workflow_variant_id: variant, message: 'Later', data: { parameters: {} } }
    const made = await service.post('/workflows/revisions/commit', { workflow_revision_commit: commit })
    expect(made.body.workflow_revision.version).to.equal(log?.answer.count + 1)
  })
})
