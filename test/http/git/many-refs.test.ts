import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { expectSound } from '../../support/git/expect-sound.ts'
import { restsDuring } from '../../support/rests.ts'
import { cloneOf, latest, workflow } from '../../support/git/git-client.ts'

const pktLine = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text
const HEADER = Buffer.from('5041434b0000000200000000', 'hex')
const EMPTY_PACK = Buffer.concat([HEADER, createHash('sha1').update(HEADER).digest()])

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => `x${String(number).padStart(5, '0')}`)

describe('git: a push of many refs', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  /** As git sends it; its own client takes a minute for so many. */
  const push = async (slug: string, commands: readonly (readonly [ref: string, target: string])[]) => {
    const lines = commands.map(([ref, target], index) =>
      pktLine(`${'0'.repeat(40)} ${target} ${ref}${index === 0 ? '\0report-status side-band-64k' : ''}\n`),
    )
    const answer = await fetch(`${service.url}/git/workflows/${slug}.git/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body: Buffer.concat([Buffer.from(`${lines.join('')}0000`), EMPTY_PACK]),
    })
    expect(answer.status).to.equal(200)
    const text = await answer.text()
    return { text, taken: text.match(/ok refs/g)?.length ?? 0, refused: text.match(/ng refs/g)?.length ?? 0 }
  }

  const headOf = (slug: string): string => git(service.repository(slug), ['rev-parse', slug])

  it('looks at each once, gives others their turn, and leaves no file for each of them', async () => {
    await workflow(service, 'broad')
    const head = headOf('broad')
    const commands = numbered(2000).map((name) => [`refs/heads/${name}`, head] as const)
    let report: Awaited<ReturnType<typeof push>> | undefined
    const rests = await restsDuring(async () => (report = await push('broad', commands)))
    // Names in use, history, records, locks, comparisons and refs are each looked at in slices of 64.
    expect(rests).to.be.greaterThan((6 * 2000) / 64)
    // One of a thousand stands between two packets.
    expect(report?.taken).to.be.within(1998, 2000)
    expect(report?.refused).to.equal(0)
    expect(report?.text).to.include('x00000-1 is revision ').and.include('… and 1000 more')
    const repository = service.repository('broad')
    expect(
      git(repository, ['for-each-ref', '--format=%(refname)', 'refs/heads/']).split('\n'),
    ).to.have.length(2001)
    expect(readdirSync(join(repository, 'refs', 'heads'))).to.have.length.below(10)
    expect(readdirSync(join(repository, 'locks'))).to.deep.equal([])
    expect((await latest(service, 'x01999')).version).to.equal(1)
    expectSound(repository)
  })

  it('says which of them clash with others of the same push', async () => {
    await workflow(service, 'clashing')
    const head = headOf('clashing')
    const names = ['one', 'ONE', 'two', 'clashing-3']
    const commands = names.map((name) => [`refs/heads/${name}`, head] as const)
    const { taken, refused, text } = await push('clashing', [...commands, ['refs/tags/two-5', head]])
    expect([taken, refused]).to.deep.equal([2, 3])
    expect(text).to.include('The branch "clashing-3" reads as a version of the variant "clashing"')
    expect(text).to.include('The branch "ONE" differs from the variant "one" in case only')
    expect(text).to.include('The tag "two-5" reads as a version of the variant "two"')
  })

  it('of branches that share new commits, each commit is looked at once', async () => {
    await workflow(service, 'stacked')
    const clone = await cloneOf(service, 'stacked')
    for (let number = 0; number < 20; number++) {
      await clone.commit(`Commit ${number}`)
      await clone.git('branch', `level${number}`)
    }
    clone.write('data.json', 'nonsense')
    await clone.commit('Bad')
    await clone.git('branch', 'bad')
    await clone.commit('Above')
    await clone.git('branch', 'above')
    const { terminal } = await clone.try(
      'push',
      'origin',
      'refs/heads/level*:refs/heads/level*',
      'bad',
      'above',
    )
    expect(terminal.match(/\[new branch\]/g)).to.have.length(20)
    expect(terminal.match(/\(payload refused\)/g)).to.have.length(2)
    expect((await latest(service, 'level19')).version).to.equal(21)
  })

  it('more than 10,000 are refused by a sentence, before any object is read', async () => {
    await workflow(service, 'endless')
    const commands = numbered(10_001).map((name) => [`refs/heads/${name}`, '1'.repeat(40)] as const)
    const { taken, refused, text } = await push('endless', commands)
    expect(taken).to.equal(0)
    expect(refused).to.be.greaterThan(9990)
    expect(text).to.include('unpack too many refs')
    expect(text).to.include('The push names more than 10000 refs. Push fewer branches and tags at once')
  })
})
