import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git, gitBytes } from '../../support/git/git-program.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { newFolder, workflow } from '../../support/git/git-client.ts'

/** A bundle that no backup made: what is done to a copy of an honest artifact, and what the server says of it. */
interface HostileBundle {
  readonly name: string
  /** Answers refs that the bundle names beside those of the copy. */
  readonly spoil: (copy: string) => Readonly<Record<string, string>> | void
  readonly says: RegExp
}

/** Replaces a file of `refs/meta/artifact`, or adds one; answers nothing. */
function changeRecord(copy: string, path: string, change: (text: string) => string): void {
  const [folder, name] = path.includes('/') ? path.split('/') : ['', path]
  const tree = folder === '' ? 'refs/meta/artifact^{tree}' : `refs/meta/artifact:${folder}`
  const entries = git(copy, ['ls-tree', tree]).split('\n')
  const before = entries.find((line) => line.endsWith(`\t${name}`))
  const text = before === undefined ? '' : git(copy, ['cat-file', 'blob', before.split(/\s/)[2] ?? ''])
  const blob = git(copy, ['hash-object', '-w', '--stdin'], change(text))
  const made = git(
    copy,
    ['mktree'],
    [...entries.filter((it) => it !== before), `100644 blob ${blob}\t${name}`].join('\n'),
  )
  const root =
    folder === ''
      ? made
      : git(
          copy,
          ['mktree'],
          git(copy, ['ls-tree', 'refs/meta/artifact^{tree}'])
            .split('\n')
            .map((line) => (line.endsWith(`\t${folder}`) ? `040000 tree ${made}\t${folder}` : line))
            .join('\n'),
        )
  git(copy, ['update-ref', 'refs/meta/artifact', git(copy, ['commit-tree', root, '-m', 'Spoil'])])
}

/** Commits this tree on the branch. */
function commitTree(copy: string, tree: string): void {
  git(copy, ['update-ref', 'refs/heads/lost', git(copy, ['commit-tree', tree, '-p', 'lost', '-m', 'Spoil'])])
}

function withEntry(copy: string, line: string): string {
  return git(copy, ['mktree', '--missing'], `${git(copy, ['ls-tree', 'lost'])}\n${line}\n`)
}

const HOSTILE: readonly HostileBundle[] = [
  {
    name: 'a head that is a tree',
    spoil: (copy) => ({ 'refs/heads/tree': git(copy, ['rev-parse', 'lost^{tree}']) }),
    says: /refs\/heads\/tree/,
  },
  {
    name: 'a tag of a tree',
    spoil: (copy) => ({ 'refs/tags/odd': git(copy, ['rev-parse', 'lost^{tree}']) }),
    says: /refs\/tags\/odd names [0-9a-f]{40}, which is not a commit but tree/,
  },
  {
    name: 'a head that does not decode',
    spoil: (copy) => {
      const blob = git(copy, ['hash-object', '-w', '--stdin'], '[]')
      commitTree(copy, git(copy, ['mktree'], `100644 blob ${blob}\tdata.json\n`))
    },
    says: /does not decode as a workflow revision: data\.json/,
  },
  {
    name: 'an artifact of another kind',
    spoil: (copy) => changeRecord(copy, 'artifact.json', (text) => text.replace('"workflow"', '"testset"')),
    says: /it is of the kind "testset", not a workflow/,
  },
  {
    name: 'an id that is none',
    spoil: (copy) =>
      changeRecord(copy, 'artifact.json', (text) => text.replace(/"id": "[^"]*"/, '"id": "../x"')),
    says: /the id "\.\.\/x" is no UUID/,
  },
  {
    name: 'a record that is no JSON',
    spoil: (copy) => changeRecord(copy, 'artifact.json', () => '{'),
    says: /artifact\.json cannot be read/,
  },
  {
    name: 'a record of a variant whose name is no slug',
    spoil: (copy) => changeRecord(copy, 'variants/a..b.json', () => '{"created_at":"","created_by_id":""}'),
    says: /variants\/a\.\.b\.json/,
  },
  {
    name: 'a symbolic link',
    spoil: (copy) => {
      const blob = git(copy, ['hash-object', '-w', '--stdin'], '/etc/passwd')
      commitTree(copy, withEntry(copy, `120000 blob ${blob}\tlink`))
    },
    says: /link is a symbolic link/,
  },
  {
    name: 'a file that is larger than a push may bring',
    spoil: (copy) => {
      const blob = git(copy, ['hash-object', '-w', '--stdin'], 'x'.repeat(5000))
      commitTree(copy, withEntry(copy, `100644 blob ${blob}\tlarge.bin`))
    },
    says: /large\.bin has 5000 bytes; at most 4096 are allowed/,
  },
  {
    name: 'trees that unfold',
    spoil: (copy) => {
      let tree = git(copy, ['rev-parse', 'lost^{tree}'])
      for (let level = 0; level < 25; level++)
        tree = git(copy, ['mktree'], `040000 tree ${tree}\ta\n040000 tree ${tree}\tb\n`)
      commitTree(copy, withEntry(copy, `040000 tree ${tree}\tfolder`))
    },
    says: /unfolds to more than 1000000 files and folders/,
  },
  {
    name: 'branches that differ in case only',
    spoil: (copy) => ({ 'refs/heads/LOST': git(copy, ['rev-parse', 'lost']) }),
    says: /differs from the variant "(lost|LOST)" in case only/,
  },
  {
    name: 'a branch below another one',
    spoil: (copy) => ({ 'refs/heads/lost/below': git(copy, ['rev-parse', 'lost']) }),
    says: /git can have no refs\/heads\/lost\/below beside refs\/heads\/lost|cannot lock ref|does not/,
  },
  {
    name: 'a tag that reads as a version',
    spoil: (copy) => ({ 'refs/tags/lost-7': git(copy, ['rev-parse', 'lost']) }),
    says: /The tag "lost-7" reads as a version of the variant "lost"/,
  },
  {
    name: 'a date that no calendar has',
    spoil: (copy) => {
      const tree = git(copy, ['rev-parse', 'lost^{tree}'])
      const who = 'Ann <ann@example.com> 9000000000000 +0000'
      const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nLate\n`
      return { 'refs/heads/late': git(copy, ['hash-object', '-t', 'commit', '-w', '--stdin'], text) }
    },
    says: /date|calendar/,
  },
]

describe('PUT /git/<family>/<slug>.git: a bundle is judged before it is put in its place', () => {
  let service: RunningService
  before(async () => {
    service = await startService({ env: { PUSH_MAX_BLOB_BYTES: '4096' } })
    await workflow(service, 'other')
  })
  after(() => service.stop())

  const restore = (
    slug: string,
    copy: string,
    { head = 'refs/heads/lost', more = {} as Readonly<Record<string, string>> } = {},
  ): Promise<Pick<Reply, 'status' | 'text' | 'body'>> =>
    put(service, `/git/workflows/${slug}.git?head=${head}`, bundleOf(copy, more))

  const workflows = (): string[] => readdirSync(join(service.storeDir, 'default', 'workflows')).sort()

  /** A repository as a backup has it, of a server that is gone. */
  const lost = async (): Promise<string> => {
    const other = await startService()
    try {
      await workflow(other, 'lost')
      const copy = newFolder()
      git(copy, ['clone', '--quiet', '--mirror', other.repository('lost'), '.'])
      return copy
    } finally {
      await other.stop()
    }
  }

  for (const { name, spoil, says } of HOSTILE) {
    it(`${name} is refused, and nothing stays`, async () => {
      const copy = await lost()
      const more = spoil(copy) ?? {}
      const before = workflows()
      const reply = await restore('lost', copy, { more })
      expect(reply.status, reply.text).to.equal(422)
      expect(reply.body.detail).to.match(says)
      expect(reply.body.detail).to.not.include(service.storeDir)
      await expectNothing(before)
    })
  }

  const expectNothing = async (before: readonly string[]): Promise<void> => {
    expect(workflows()).to.deep.equal(before)
    const { body } = await service.get('/ready')
    expect([body.status, body.damaged]).to.deep.equal(['ready', []])
    expect((await service.post('/workflows/revisions/query')).status).to.equal(200)
  }

  it('an artifact that is there under another slug is refused, again and again, and the slug stays free', async () => {
    await workflow(service, 'original')
    const copy = newFolder()
    git(copy, ['clone', '--quiet', '--mirror', service.repository('original'), '.'])
    const before = workflows()
    for (let time = 0; time < 2; time++) {
      const reply = await restore('copy', copy, { head: 'refs/heads/original' })
      expect(reply.status, reply.text).to.equal(409)
      expect(reply.body.code).to.equal('id_taken')
      expect(reply.body.detail).to.include('The workflow "original" of this project has the id')
    }
    await expectNothing(before)
    expect((await service.post('/workflows/', { workflow: { slug: 'copy' } })).status).to.equal(200)
  })

  it('a slug that is there in another case is refused', async () => {
    await workflow(service, 'bot')
    const reply = await restore('BOT', await lost())
    expect([reply.status, reply.body.code]).to.deep.equal([409, 'slug_taken'])
    expect(reply.body.conflict).to.deep.equal({ slug: 'bot' })
    expect(workflows()).to.not.include('BOT.git')
  })

  it('an honest one comes back unchanged, but for what replaces objects and what no environment says', async () => {
    const copy = await lost()
    git(copy, ['notes', 'add', '-m', 'Note', 'lost'])
    // An earlier version took such a name from a push.
    const text = git(copy, ['hash-object', '-w', '--stdin'], 'Device')
    commitTree(copy, withEntry(copy, `100644 blob ${text}\tcon.md`))
    git(copy, ['update-ref', 'refs/environments/production', 'lost'])
    git(copy, ['update-ref', 'refs/environments/nowhere', 'lost'])
    const refs = git(copy, ['for-each-ref']).split('\n')
    git(copy, ['replace', git(copy, ['rev-parse', 'lost']), git(copy, ['rev-parse', 'refs/meta/artifact'])])
    const reply = await restore('lost', copy)
    expect([reply.status, reply.body?.outcome], reply.text).to.deep.equal([200, 'restored'])
    const restored = git(service.repository('lost'), ['for-each-ref']).split('\n')
    expect(restored).to.deep.equal(refs.filter((line) => !line.includes('refs/environments/')))
    expect((await restore('lost', copy)).body.outcome).to.equal('there')
  })
})

async function put(
  { url }: RunningService,
  path: string,
  body: Buffer,
): Promise<Pick<Reply, 'status' | 'text' | 'body'>> {
  const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/x-git-bundle' }
  const answer = await fetch(url + path, { method: 'PUT', headers, body: new Uint8Array(body) })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text) }
}

/** A bundle (gitformat-bundle(5)) of all refs of the repository and some more, also of such as git would not write. */
function bundleOf(copy: string, more: Readonly<Record<string, string>>): Buffer {
  const refs = git(copy, ['for-each-ref', '--format=%(objectname) %(refname)']).split('\n')
  for (const [name, oid] of Object.entries(more)) refs.push(`${oid} ${name}`)
  const oids = refs.map((line) => `${line.slice(0, 40)}\n`).join('')
  const pack = gitBytes(copy, ['pack-objects', '--revs', '--stdout', '-q'], oids)
  return Buffer.concat([Buffer.from(`# v2 git bundle\n${refs.join('\n')}\n\n`), pack])
}
