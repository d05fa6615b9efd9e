import { expect } from 'chai'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, keyWith, latest, workflow } from '../../support/git/git-client.ts'

/** How somebody brings about a refusal: what is done in the clone, and what is pushed then. */
interface RefusedPush {
  readonly name: string
  readonly prepare?: (clone: Clone, slug: string) => Promise<unknown>
  readonly push: (slug: string) => readonly string[]
  /** What the terminal shows behind `remote:`, in part. */
  readonly says: RegExp
  /** What stands in brackets in git's table. */
  readonly reason: string
}

const commitFile =
  (path: string, content: string | Buffer) =>
  async (clone: Clone): Promise<unknown> => {
    clone.write(path, content)
    return clone.commit('Change')
  }

const CURRENT = () => ['HEAD']

/** A commit on top of the clone's, dated as nobody is who commits with `git commit`. */
const datedCommit =
  (author: string, committer: string) =>
  async (clone: Clone): Promise<unknown> => {
    const [tree, parent] = [await clone.git('rev-parse', 'HEAD^{tree}'), await clone.git('rev-parse', 'HEAD')]
    const bytes = `tree ${tree}\nparent ${parent}\nauthor A <a@x> ${author}\ncommitter C <c@x> ${committer}\n\nOdd\n`
    clone.write('.git/odd', bytes)
    const oid = await clone.git('hash-object', '-t', 'commit', '-w', '--literally', '.git/odd')
    return clone.git('reset', '-q', '--hard', oid)
  }

const REFUSED: readonly RefusedPush[] = [
  {
    name: 'a committer date after the year 9999',
    prepare: datedCommit('1700000000 +0000', '9000000000000 +0000'),
    push: CURRENT,
    says: /says that its committer date is 9000000000000 seconds after 1970, which no calendar has\. Give it a date/,
    reason: 'date out of range',
  },
  {
    name: 'an author date one second after the year 9999',
    prepare: datedCommit('253402300800 +0000', '1700000000 +0000'),
    push: CURRENT,
    says: /says that its author date is 253402300800 seconds after 1970/,
    reason: 'date out of range',
  },
  {
    name: 'a date before 1970',
    prepare: datedCommit('-1 +0000', '1700000000 +0000'),
    push: CURRENT,
    says: /git does not accept the objects of the push/,
    reason: 'invalid file',
  },
  {
    name: 'the deletion of a branch',
    push: (slug) => ['--delete', slug],
    says: /cannot be deleted: its revisions stay\. Archive the variant/,
    reason: 'deletion',
  },
  {
    name: 'the deletion of a tag',
    prepare: async (clone) => {
      await clone.git('tag', 'kept')
      await clone.git('push', '-q', 'origin', 'kept')
    },
    push: () => ['--delete', 'kept'],
    says: /refs\/tags\/kept cannot be deleted/,
    reason: 'deletion',
  },
  {
    name: 'a tag that moves',
    prepare: async (clone) => {
      await clone.git('tag', 'moving')
      await clone.git('push', '-q', 'origin', 'moving')
      await clone.commit('Later')
      await clone.git('tag', '-f', 'moving')
    },
    push: () => ['--force', 'moving'],
    says: /a revision's slug never comes to name another one/,
    reason: 'tag exists',
  },
  {
    name: 'a rewind',
    prepare: async (clone) => {
      await clone.commit('Second')
      await clone.git('push', '-q')
    },
    push: (slug) => ['--force', `HEAD~1:${slug}`],
    says: /would lose revisions that others hold\. To go back, commit the older state on top/,
    reason: 'rewind',
  },
  {
    name: 'rewritten history',
    prepare: async (clone) => {
      await clone.commit('Second')
      await clone.git('push', '-q')
      await clone.git('commit', '-q', '--amend', '--allow-empty', '-m', 'Rewritten')
    },
    push: () => ['--force'],
    says: /would lose revisions that others hold\. Put your commits on top of them with git pull --rebase/,
    reason: 'rewritten',
  },
  {
    name: 'what git pull merges',
    prepare: async (clone, slug) => {
      await clone.git('switch', '-q', '-c', 'mine')
      await clone.commit('Mine')
      await clone.git('switch', '-q', slug)
      await clone.commit('Theirs')
      await clone.git('push', '-q')
      await clone.git('switch', '-q', 'mine')
      await clone.git('merge', '-q', '-m', 'Merge', slug)
    },
    push: (slug) => [`mine:${slug}`],
    says: /would renumber revisions.*git pull --rebase/,
    reason: 'merge renumbers',
  },
  {
    name: 'a ref under meta',
    push: () => ['HEAD:refs/meta/mine'],
    says: /refs\/meta\/mine cannot be pushed: .* over REST/,
    reason: 'not a branch or tag',
  },
  {
    name: 'a ref under environments',
    push: () => ['HEAD:refs/environments/production'],
    says: /it follows what is deployed\. Deploy/,
    reason: 'not a branch or tag',
  },
  {
    name: 'notes',
    push: () => ['HEAD:refs/notes/commits'],
    says: /refs\/notes\/commits cannot be pushed: notes here say what the registry saw/,
    reason: 'not a branch or tag',
  },
  {
    name: 'the record of the registry as a branch',
    prepare: (clone) => clone.git('fetch', '-q', 'origin', 'refs/meta/artifact'),
    push: () => ['FETCH_HEAD:refs/heads/record'],
    says: /is a record of the registry \(refs\/meta\), not a revision/,
    reason: 'not a revision',
  },
  {
    name: 'a branch whose name is no slug',
    push: () => ['HEAD:refs/heads/feature/x'],
    says: /the slug "feature\/x" may hold only A-Z/,
    reason: 'not a slug',
  },
  {
    name: 'a branch that differs from another in case only',
    push: (slug) => [`HEAD:refs/heads/${slug.toUpperCase()}`],
    says: /differs from the variant ".*" in case only\. Choose another name/,
    reason: 'slug taken',
  },
  {
    name: 'two new branches that differ in case only',
    push: () => ['HEAD:refs/heads/twin', 'HEAD:refs/heads/Twin'],
    says: /differs from the variant "Twin" in case only/i,
    reason: 'slug taken',
  },
  {
    name: 'a tag that differs from another in case only',
    prepare: async (clone) => {
      await clone.git('tag', 'calm')
      await clone.git('push', '-q', 'origin', 'calm')
    },
    push: () => ['HEAD:refs/tags/Calm'],
    says: /differs from the tag "calm" in case only/,
    reason: 'slug taken',
  },
  {
    name: 'a tag that reads as a version',
    push: (slug) => [`HEAD:refs/tags/${slug}-7`],
    says: /reads as a version of the variant/,
    reason: 'slug taken',
  },
  {
    name: 'a branch whose versions read as a tag',
    prepare: async (clone) => {
      await clone.git('tag', 'release-1')
      await clone.git('push', '-q', 'origin', 'release-1')
    },
    push: () => ['HEAD:refs/heads/release'],
    says: /Revisions of the branch "release" would be named as the tag "release-1" is/,
    reason: 'slug taken',
  },
  {
    name: 'a tag of a tree',
    push: () => ['HEAD^{tree}:refs/tags/tree'],
    says: /would not name a commit/,
    reason: 'not a commit',
  },
  {
    name: 'JSON that does not parse',
    prepare: commitFile('data.json', '{\n  "parameters": {,}\n}\n'),
    push: CURRENT,
    says: /Commit [0-9a-f]{40} does not decode as a workflow revision: data\.json: JSON line 2, column 18/,
    reason: 'payload refused',
  },
  {
    name: 'a commit below the newest that does not decode',
    prepare: async (clone) => {
      await commitFile('data.json', '[]')(clone)
      await commitFile('data.json', '{"parameters": {}}')(clone)
    },
    push: CURRENT,
    says: /does not decode as a workflow revision: data\.json: .* must be an object, but this is an array/,
    reason: 'payload refused',
  },
  {
    name: 'a text in a file that Windows keeps for a device',
    prepare: async (clone) => {
      const parameters = { prompt: { '@svc.file': 'prompt/con.md' } }
      clone.write('data.json', JSON.stringify({ '@svc.format': 2, parameters }))
      clone.write('prompt/con.md', 'You are brief.\n')
      await clone.commit('Text')
    },
    push: CURRENT,
    says: /prompt\/con\.md has the name of a device of Windows, where nobody could check it out\. Give it another name/,
    reason: 'device name',
  },
  {
    name: 'a folder that Windows keeps for a device, in any case',
    prepare: commitFile('docs/Aux.d/readme.txt', 'Read me'),
    push: CURRENT,
    says: /docs\/Aux\.d has the name of a device/,
    reason: 'device name',
  },
  {
    name: 'a symbolic link',
    prepare: async (clone) => {
      symlinkSync('data.json', join(clone.folder, 'link'))
      await clone.commit('Link')
    },
    push: CURRENT,
    says: /link is a symbolic link, which an artifact cannot hold/,
    reason: 'symbolic link',
  },
  {
    name: 'a submodule',
    prepare: async (clone) => {
      const head = await clone.git('rev-parse', 'HEAD')
      await clone.git('update-index', '--add', '--cacheinfo', `160000,${head},below`)
      await clone.git('commit', '-q', '-m', 'Submodule')
    },
    push: CURRENT,
    says: /below is a submodule/,
    reason: 'submodule',
  },
  {
    name: 'a commit that is too large',
    prepare: (clone) => {
      const message = `${'word '.repeat(3_500_000).trim()}\n`
      clone.write('../message', message)
      return clone.git('commit', '-q', '--allow-empty', '-F', '../message')
    },
    push: CURRENT,
    says: /The commit [0-9a-f]{40} has 17500[0-9]{3} bytes; at most 16777216 are allowed/,
    reason: 'object too large',
  },
  {
    name: 'a file that is too large, also in a commit that is gone from the newest',
    prepare: async (clone) => {
      await commitFile('large.bin', Buffer.alloc(5000, 'x'))(clone)
      await clone.git('rm', '-q', 'large.bin')
      await clone.commit('Without')
    },
    push: CURRENT,
    says: /large\.bin has 5000 bytes; at most 4096 are allowed\. Take it out of the commit that brings it/,
    reason: 'file too large',
  },
]

describe('git: what a push may not do', () => {
  let service: RunningService
  let number = 0
  before(async () => (service = await startService({ env: { PUSH_MAX_BLOB_BYTES: '4096' } })))
  after(() => service.stop())

  for (const { name, prepare, push, says, reason } of REFUSED) {
    // interface 15.3
    it(`${name}: says why and what to do, and stores nothing`, async () => {
      const slug = `refused${++number}`
      await workflow(service, slug)
      const clone = await cloneOf(service, slug)
      await prepare?.(clone, slug)
      const repository = service.repository(slug)
      const before = git(repository, ['for-each-ref'])
      const refs = push(slug)
      const { code, terminal } = await clone.try('push', '--atomic', 'origin', ...refs)
      expect(code).to.equal(1)
      expect(terminal.replaceAll(/ +\n/g, '\n')).to.match(
        new RegExp(`^remote: .*${says.source}`, `m${says.flags}`),
      )
      expect(terminal).to.include(`(${reason})`)
      expect(git(repository, ['for-each-ref'])).to.equal(before)
      expect(git(repository, ['count-objects', '-v'])).to.include('garbage: 0')
    })
  }

  it('archived artifacts and variants: pushes are refused until they are unarchived', async () => {
    const variant = await workflow(service, 'shelved')
    const clone = await cloneOf(service, 'shelved')
    await clone.commit('More')
    await service.post(`/workflows/variants/${variant}/archive`)
    expect((await clone.try('push')).terminal).to.match(
      /remote: The variant "shelved" was archived at .*\(archived\)/s,
    )
    await service.post(`/workflows/variants/${variant}/unarchive`)
    const { workflow_id } = await latest(service, 'shelved')
    await service.post(`/workflows/${workflow_id}/archive`)
    expect((await clone.try('push')).terminal).to.match(
      /remote: The artifact "shelved" was archived at .*\(archived\)/s,
    )
    await service.post(`/workflows/${workflow_id}/unarchive`)
    await clone.git('push', '-q')
  })

  // interface 15.3
  it('of several refs the good ones move, unless they are to move together', async () => {
    await workflow(service, 'several')
    const clone = await cloneOf(service, 'several')
    await clone.git('branch', 'good')
    await clone.git('switch', '-q', '-c', 'bad')
    await commitFile('data.json', 'nonsense')(clone)
    const atomic = await clone.try('push', '--atomic', 'origin', 'good', 'bad')
    expect(atomic.code).to.equal(1)
    expect(atomic.terminal).to.include('(atomic push failed)')
    expect(await latest(service, 'good')).to.equal(undefined)
    const apart = await clone.try('push', 'origin', 'good', 'bad')
    expect(apart.code).to.equal(1)
    expect((await latest(service, 'good')).version).to.equal(1)
    expect(await latest(service, 'bad')).to.equal(undefined)
  })

  it('files may have any name that git takes: line ends of other systems, control characters, no UTF-8', async () => {
    await workflow(service, 'names')
    const clone = await cloneOf(service, 'names')
    const names = ['a\u2028b', 'c\u2029d', 'e\rf', 'g\u0085h', 'i\nj', 'k\tl ', '\r', ' "m"', 'n\\o']
    for (const name of names) clone.write(name, 'x\n')
    clone.write('p', 'y\n')
    await clone.commit('Names')
    await clone.git('push', '-q')
    expect((await latest(service, 'names')).version).to.equal(2)
    clone.write('large\u2028\rfile', Buffer.alloc(5000, 'x'))
    await clone.commit('Large')
    const { terminal } = await clone.try('push')
    expect(terminal).to.include('(file too large)').and.include('file has 5000 bytes')
  })

  it('who has not what is there is told to fetch first', async () => {
    await workflow(service, 'ahead')
    const [one, two] = [await cloneOf(service, 'ahead'), await cloneOf(service, 'ahead')]
    await one.commit('One')
    await one.git('push', '-q')
    await two.commit('Two')
    expect((await two.try('push')).terminal).to.include('(fetch first)')
    await two.git('pull', '-q', '--rebase')
    await two.git('push', '-q')
    expect((await latest(service, 'ahead')).version).to.equal(3)
  })

  it('a push larger than the limit is refused whole', async () => {
    const small = await startService({ env: { PUSH_MAX_BYTES: '1024' } })
    try {
      await workflow(small, 'bulky')
      const clone = await cloneOf(small, 'bulky')
      clone.write('noise', Buffer.from(Array.from({ length: 3000 }, () => Math.random() * 256)))
      await clone.commit('Noise')
      expect((await clone.try('push')).terminal).to.match(/remote: The push is larger than 1024 bytes/)
    } finally {
      await small.stop()
    }
  })

  // interface 9.10
  it('a guarded environment takes pushes from who may deploy only', async () => {
    const writer = await keyWith(service, 'read', 'write')
    const deployer = await keyWith(service, 'deploy')
    const { body } = await service.post('/simple/environments/query', {})
    const { id } = body.environments.find((it: { slug: string }) => it.slug === 'production')
    await service.post(`/simple/environments/${id}/guard`, {})
    const clone = await cloneOf(service, 'production', { family: 'environments', key: writer })
    await clone.git('switch', '-q', '-c', 'production')
    clone.write('references.json', '{}\n')
    await clone.commit('By hand')
    expect((await clone.try('push', 'origin', 'production')).terminal).to.match(
      /remote: The environment "production" is guarded.* the key .* lacks the scope "deploy".*\(guarded\)/s,
    )
    const address = (await clone.git('remote', 'get-url', 'origin')).replace(writer, deployer)
    await clone.git('push', '-q', address, 'production')
    expect((await latest(service, 'production', 'environment')).version).to.equal(1)
  })
})
