import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { runHere } from '../command-here.ts'
import { makeEmptyStore } from '../empty-store.ts'

describe('branchpoint keys', () => {
  let store: string
  beforeEach(() => makeEmptyStore((store = mkdtempSync(join(tmpdir(), 'keys-')))))
  afterEach(() => rmSync(store, { recursive: true, force: true }))

  const keys = (...args: string[]) =>
    runHere(['keys', ...args], { cwd: store, env: { ...process.env, STORE_DIR: store } })

  it('creates, lists and revokes, and shows a token once', async () => {
    const created = await keys('create', '--name', 'ci', '--scopes', 'read, write', '--project', 'team')
    expect(created.code).to.equal(0)
    const token = created.stdout.trim() // nothing else, so that a shell can take it
    expect(token).to.match(/^svc_[\w-]{43}$/)
    expect(created.stderr)
      .to.match(/shown only now[^]*ci@branchpoint\.local/)
      .and.not.contain(token)
    const listed = await keys('list', '--project', 'team')
    expect(listed.stdout).to.match(/ci +ci@branchpoint\.local +read,write +….{4} .* live/)
    expect(listed.stdout).not.to.contain(token)
    expect((await keys('list')).stdout).to.contain('There are no keys of the project "default" in the store')
    const record = JSON.parse((await keys('list', '--project', 'team', '--jsonl')).stdout)
    const answer = JSON.parse((await keys('list', '--project', 'team', '--json')).stdout)
    expect(answer).to.deep.equal({ count: 1, keys: [record] })
    expect(record)
      .to.include({ name: 'ci', last4: token.slice(-4) })
      .and.not.have.property('sha256')
    expect((await keys('list', '--jsonl')).stdout).to.equal('')
    expect((await keys('revoke', '--name', 'ci', '--project', 'team')).stdout).to.contain('Revoked "ci"')
    expect((await keys('list', '--project', 'team')).stdout).to.contain('revoked 2')
  })

  it('makes a key that expires, and says until when', async () => {
    const made = await keys('create', '--name', 'brief', '--scopes', 'read', '--expires', '2100-01-01')
    expect(made.stdout).to.match(/^svc_/)
    expect(made.stderr).to.contain('until 2100-01-01 00:00:00')
    const [record] = (await keys('list', '--jsonl')).stdout.split('\n')
    expect(JSON.parse(record ?? '')).to.include({ expires_at: '2100-01-01T00:00:00.000Z' })
  })

  it('makes a key that is limited to folders, and lists them', async () => {
    const words = ['create', '--name', 'desk', '--scopes', 'read', '--folders', 'support/**, shared']
    expect((await keys(...words)).stderr).to.contain('support/**,shared')
    expect(JSON.parse((await keys('list', '--jsonl')).stdout).folders).to.deep.equal(['support/**', 'shared'])
    expect((await keys('list')).stdout).to.match(/FOLDERS[^]*read +support\/\*\*,shared/)
  })

  it('explains itself without a command and with --help', async () => {
    expect((await keys()).stdout).to.contain('branchpoint keys create --name NAME')
    expect((await keys('--help')).code).to.equal(0)
  })

  for (const [what, args, answer, code = 2] of [
    ['an unknown command', ['destroy'], 'There is no command "destroy".'],
    ['an unknown option', ['list', '--all'], "Unknown option '--all'"],
    ['records of what prints none', ['signing', '--json'], '--json goes with list only.'],
    ['two forms', ['list', '--json', '--jsonl'], '--json and --jsonl cannot both be given.'],
    ['a missing name', ['create', '--scopes', 'read'], 'create needs --name.'],
    ['missing scopes', ['create', '--name', 'x'], 'create needs --scopes.'],
    ['an unknown scope', ['create', '--name', 'x', '--scopes', 'all'], '"all" is not a scope', 1],
    [
      'a time in the past',
      ['create', '--name', 'x', '--scopes', 'read', '--expires', '2020-01-01'],
      'in the past',
      1,
    ],
    [
      'a time that is none',
      ['create', '--name', 'x', '--scopes', 'read', '--expires', 'soon'],
      '"soon" is not a date',
      1,
    ],
    [
      'folders beside admin',
      ['create', '--name', 'x', '--scopes', 'admin', '--folders', 'a'],
      'cannot be limited to folders',
      1,
    ],
    [
      'a folder that is none',
      ['create', '--name', 'x', '--scopes', 'read', '--folders', 'a,'],
      'names no folder',
      1,
    ],
    ['a revocation of nothing', ['revoke'], 'revoke needs either --id or --name.'],
    ['to show a signing key without one', ['signing'], 'set SIGNING_KEY_FILE'],
    ['an unknown key', ['revoke', '--name', 'ghost'], 'no live key with the name "ghost"', 1],
  ] as [string, string[], string, number?][]) {
    it(`refuses ${what} with exit code ${code} and no stack`, async () => {
      const { stderr, code: ended } = await keys(...args)
      expect(ended).to.equal(code)
      expect(stderr).to.contain(answer).and.not.contain('    at ')
    })
  }
})
