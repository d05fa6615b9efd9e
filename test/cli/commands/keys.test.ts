import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { makeEmptyStore } from '../empty-store.ts'

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint keys', () => {
  let store: string
  beforeEach(() => makeEmptyStore((store = mkdtempSync(join(tmpdir(), 'keys-')))))
  afterEach(() => rmSync(store, { recursive: true, force: true }))

  function keys(...args: string[]) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, 'keys', ...args], {
      encoding: 'utf8',
      env: { ...process.env, STORE_DIR: store },
    })
    return { stdout, stderr, status }
  }

  it('creates, lists and revokes, and shows a token once', () => {
    const created = keys('create', '--name', 'ci', '--scopes', 'read, write', '--project', 'team')
    expect(created.status).to.equal(0)
    const token = created.stdout.trim() // nothing else, so that a shell can take it
    expect(token).to.match(/^svc_[\w-]{43}$/)
    expect(created.stderr)
      .to.match(/shown only now[^]*ci@branchpoint\.local/)
      .and.not.contain(token)
    const listed = keys('list', '--project', 'team')
    expect(listed.stdout).to.match(/ci +ci@branchpoint\.local +read,write +….{4} .* live/)
    expect(listed.stdout).not.to.contain(token)
    expect(keys('list').stdout).to.contain('There are no keys of the project "default" in the store')
    const record = JSON.parse(keys('list', '--project', 'team', '--json').stdout)
    expect(record)
      .to.include({ name: 'ci', last4: token.slice(-4) })
      .and.not.have.property('sha256')
    expect(keys('list', '--json').stdout).to.equal('')
    expect(keys('revoke', '--name', 'ci', '--project', 'team').stdout).to.contain('Revoked "ci"')
    expect(keys('list', '--project', 'team').stdout).to.contain('revoked 2')
  })

  it('explains itself without a command and with --help', () => {
    expect(keys().stdout).to.contain('branchpoint keys create --name NAME')
    expect(keys('--help').status).to.equal(0)
  })

  for (const [what, args, answer, code = 2] of [
    ['an unknown command', ['destroy'], 'There is no command "destroy".'],
    ['an unknown option', ['list', '--all'], "Unknown option '--all'"],
    ['records of what prints none', ['signing', '--json'], '--json goes with list only.'],
    ['a missing name', ['create', '--scopes', 'read'], 'create needs --name.'],
    ['missing scopes', ['create', '--name', 'x'], 'create needs --scopes.'],
    ['an unknown scope', ['create', '--name', 'x', '--scopes', 'all'], '"all" is not a scope', 1],
    ['a revocation of nothing', ['revoke'], 'revoke needs either --id or --name.'],
    ['to show a signing key without one', ['signing'], 'set SIGNING_KEY_FILE'],
    ['an unknown key', ['revoke', '--name', 'ghost'], 'no live key with the name "ghost"', 1],
  ] as [string, string[], string, number?][]) {
    it(`refuses ${what} with exit code ${code} and no stack`, () => {
      const { stderr, status } = keys(...args)
      expect(status).to.equal(code)
      expect(stderr).to.contain(answer).and.not.contain('    at ')
    })
  }
})
