import { expect } from 'chai'
import { chmodSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { git } from '../../../support/git/git-program.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { startService } from '../../../support/servers/service.ts'
import { verified } from './verified.ts'
import { storeForEach } from './verify-store.ts'

/** How a repository is laid out before a byte of it turns, and which file that is in. */
const PLACES: Record<string, readonly [lay: (gitdir: string) => void, file: (gitdir: string) => string]> = {
  'a loose commit': [unpack, (gitdir) => looseFile(gitdir, 'bot')],
  'a loose tree': [unpack, (gitdir) => looseFile(gitdir, 'bot^{tree}')],
  'a loose blob': [unpack, (gitdir) => looseFile(gitdir, 'bot:data.json')],
  'a pack': [repack, (gitdir) => packFile(gitdir, '.pack')],
  'an index': [repack, (gitdir) => packFile(gitdir, '.idx')],
  'a branch': [() => undefined, (gitdir) => `${gitdir}/refs/heads/bot`],
  'the meta ref': [() => undefined, (gitdir) => `${gitdir}/refs/meta/artifact`],
  'packed-refs': [packRefs, (gitdir) => `${gitdir}/packed-refs`],
}

/** Records name the address of their server, which is another one each time. */
const SAME_URL = { PUBLIC_URL: 'http://registry.test' }

describe('a byte that turned', () => {
  const { dir, repository } = storeForEach()
  const gitdir = (): string => repository('workflows/bot')

  for (const [what, [lay, file]] of Object.entries(PLACES)) {
    it(`in ${what}: is named by verify, and a server serves what is right or answers 503`, async () => {
      let service = await startService({ storeDir: dir(), env: SAME_URL })
      const questions = await questionsOf(service)
      const answers = await ask(service, questions)
      await service.stop({ keepStore: true })
      lay(gitdir())
      const before = await verified(dir())
      expect(before.isSound, before.lines.join('\n')).to.equal(true)
      const path = file(gitdir())
      const sound = readFileSync(path)
      chmodSync(path, 0o644)
      for (const at of [0.5, 0.93].map((share) => Math.floor(share * sound.length))) {
        const turned = Buffer.from(sound)
        turned.writeUInt8(turned.readUInt8(at) ^ 0x04, at)
        writeFileSync(path, turned)
        const { of, isSound } = await verified(dir())
        const message = `byte ${at} of ${what}`
        expect(of('workflows/bot'), message).to.match(/^(damaged|stale) /)
        expect(isSound).to.equal(false)
        service = await startService({ storeDir: dir(), env: SAME_URL })
        try {
          for (const [index, answer] of (await ask(service, questions)).entries()) {
            if (answer.text === answers[index]?.text) continue
            expect([answer.status, answer.code], `${message}: ${answer.text}`).to.deep.equal([
              503,
              'damaged_repository',
            ])
          }
          const other = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug: 'rows' } })
          expect(other.status).to.equal(200)
        } finally {
          await service.stop({ keepStore: true })
        }
      }
      writeFileSync(path, sound)
      expect((await verified(dir())).of('workflows/bot')).to.match(/^ok /)
    })
  }

  it('under a server that runs: the same, and it serves again when the byte is back', async () => {
    const service = await startService({ storeDir: dir() })
    try {
      const questions = await questionsOf(service)
      const answers = await ask(service, questions)
      for (const name of ['refs/heads/bot', 'refs/meta/artifact']) {
        const path = `${gitdir()}/${name}`
        const sound = readFileSync(path)
        const turned = Buffer.from(sound)
        turned.writeUInt8(turned.readUInt8(7) ^ 0x40, 7)
        replace(path, turned)
        for (const [index, { status, code, text }] of (await ask(service, questions)).entries())
          if (text !== answers[index]?.text)
            expect([status, code], `${name}: ${text}`).to.deep.equal([503, 'damaged_repository'])
        replace(path, sound)
        expect(await ask(service, questions)).to.deep.equal(answers)
      }
    } finally {
      await service.stop({ keepStore: true })
    }
  })
})

/** Whatever names the prompt, its variants or its revisions. */
async function questionsOf(service: RunningService): Promise<readonly (readonly [string, unknown?])[]> {
  const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
  const { id, workflow_id, workflow_variant_id } = body.workflow_revision
  return [
    ['/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } }],
    ['/workflows/revisions/retrieve', { workflow_variant_ref: { slug: 'fork' } }],
    ['/workflows/revisions/retrieve', { workflow_revision_ref: { slug: 'bot', version: 2 } }],
    ['/workflows/revisions/retrieve', { workflow_revision_ref: { slug: 'chosen' } }],
    ['/workflows/revisions/log', { workflow: { workflow_variant_id } }],
    [`/workflows/${workflow_id}`],
    [`/workflows/variants/${workflow_variant_id}`],
    [`/workflows/revisions/${id}`],
  ]
}

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
}

async function ask(
  service: RunningService,
  questions: readonly (readonly [string, unknown?])[],
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [path, body] of questions) {
    const { status, text, body: problem } = await (body ? service.post(path, body) : service.get(path))
    answers.push({ status, text, code: problem?.code })
  }
  return answers
}

function unpack(gitdir: string): void {
  for (const name of readdirSync(`${gitdir}/objects/pack`).filter((it) => it.endsWith('.pack'))) {
    const bytes = readFileSync(`${gitdir}/objects/pack/${name}`)
    rmSync(`${gitdir}/objects/pack/${name}`)
    rmSync(`${gitdir}/objects/pack/${name.replace(/pack$/, 'idx')}`)
    git(gitdir, ['unpack-objects', '-q'], bytes)
  }
}

function repack(gitdir: string): void {
  git(gitdir, ['repack', '-adfq'])
}

function packRefs(gitdir: string): void {
  git(gitdir, ['pack-refs', '--all'])
}

function looseFile(gitdir: string, name: string): string {
  const oid = git(gitdir, ['rev-parse', name])
  return `${gitdir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
}

function packFile(gitdir: string, ending: string): string {
  const name = readdirSync(`${gitdir}/objects/pack`).find((it) => it.endsWith(ending))
  return `${gitdir}/objects/pack/${name}`
}

/** Puts another file in its place, as whatever restores one does: that a byte turns where it lies no folder tells. */
function replace(path: string, bytes: Buffer): void {
  rmSync(path)
  writeFileSync(path, bytes)
}
