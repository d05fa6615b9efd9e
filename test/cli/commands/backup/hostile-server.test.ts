import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import { pathsBelow } from '../../../support/disk/paths-below.ts'
import { runCommand } from './run-command.ts'

/** What a server that nobody should believe answers, and what it was asked. */
interface Hostile {
  readonly workflows?: readonly string[]
  readonly damaged?: readonly string[]
  /** The lines of its refs. */
  readonly refs?: readonly string[]
}

describe('branchpoint backup: over HTTP, from a server that lies', () => {
  let folder: string
  let victim: string
  let server: Server
  let answers: Hostile
  let before: string

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-hostile-'))
    victim = join(folder, 'victim/project/bot.git')
    mkdirSync(victim, { recursive: true })
    git(victim, ['init', '-q', '--bare', '--initial-branch=main', '.'])
    const tree = git(victim, ['hash-object', '-t', 'tree', '-w', '--stdin'], '')
    git(victim, ['update-ref', 'refs/heads/main', git(victim, ['commit-tree', tree, '-m', 'Mine'])])
    before = git(victim, ['for-each-ref'])
    server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  })

  function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const { workflows = [], damaged = [], refs = [] } = answers
    const pkt = (text: string): string => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
    if (url === '/ready') {
      response.end(
        JSON.stringify({ damaged: damaged.map((repository) => ({ repository, reason: '\x1b[2J' })) }),
      )
    } else if (url.endsWith('/query')) {
      const rows = url === '/workflows/query' ? workflows.map((slug) => ({ slug })) : []
      response.end(JSON.stringify({ [url.slice(1, -'/query'.length)]: rows }))
    } else response.end(`${refs.map(pkt).join('')}0000`)
  }

  const backup = (hostile: Hostile) => {
    answers = hostile
    const { port } = server.address() as AddressInfo
    const to = join(folder, 'backup')
    return runCommand('backup', ['--to', to, '--url', `http://127.0.0.1:${port}`, '--key', 'k'])
  }

  /** All that is there, but in the folder of the backup what every run makes. */
  const there = () =>
    pathsBelow(folder)
      .filter((path) => !/^backup(?:\/(?:backup\.json|locks|default(?:\/workflows)?))?$/.test(path))
      .sort()

  const oid = '1'.repeat(40)
  const refs = [
    `${oid} HEAD symref-target:refs/heads/main`,
    `${oid} refs/heads/main`,
    `${oid} refs/meta/artifact`,
  ]

  const NAMES = [
    '../../../victim/project/bot',
    '../../../new',
    '/tmp/branchpoint-absolute',
    '..',
    '.',
    '',
    'a/b',
    'bot\0',
    'bot\n',
    '\x1b[2Jbot',
    '.hidden',
    'bot.lock',
  ]
  for (const slug of NAMES) {
    it(`makes no folder of the slug ${JSON.stringify(slug)}`, async () => {
      const paths = there()
      for (let run = 1; run <= 2; run++) {
        const { failures } = await backup({ workflows: [slug], refs })
        expect(failures).to.have.length(1)
        expect(failures[0]).to.match(/names an artifact that cannot be one: its slug /)
      }
      expect(there()).to.deep.equal(paths)
      expect(git(victim, ['for-each-ref'])).to.equal(before)
    })
  }

  it('makes none of what it says it cannot serve', async () => {
    const paths = there()
    await backup({ damaged: ['../../../victim/project/bot', 'workflows/../../../../new', 'workflows/'] })
    expect(there()).to.deep.equal(paths)
  })

  const REFS: Readonly<Record<string, string>> = {
    'a name that leads out': `${oid} refs/heads/../../../../../new`,
    'a name that is no ref': `${oid} config`,
    'a name with a NUL': `${oid} refs/heads/a\0b`,
    'a lock': `${oid} refs/heads/main.lock`,
    'a refspec for an id': '+refs/heads/*:refs/heads/* refs/heads/other',
    'an option for an id': '--upload-pack=touch refs/heads/other',
    'HEAD at something else': `${oid} HEAD symref-target:../../config`,
  }
  for (const [what, line] of Object.entries(REFS)) {
    it(`takes none of its refs: ${what}`, async () => {
      const paths = there()
      const { failures } = await backup({ workflows: ['bot'], refs: [...refs, line] })
      expect(failures.join()).to.contain('answered a ref that cannot be one')
      expect(there()).to.deep.equal(paths)
    })
  }

  it('writes nothing through a link, and nothing into a repository that it did not make', async () => {
    await backup({})
    const into = join(folder, 'backup/default/workflows')
    mkdirSync(into, { recursive: true })
    symlinkSync(victim, join(into, 'link.git'))
    execFileSync('cp', ['-r', victim, join(into, 'theirs.git')])
    const { failures } = await backup({ workflows: ['link', 'theirs'], refs })
    expect(failures.join('\n'))
      .to.match(/link\.git was not made by a backup \(it is no folder\)/)
      .and.match(/theirs\.git was not made by a backup \(it has no refs\/meta\/artifact\)/)
    for (const path of [victim, join(into, 'theirs.git')]) {
      expect(git(path, ['for-each-ref'])).to.equal(before)
      expect(existsSync(join(path, 'packed-refs'))).to.equal(false)
    }
  })
})
