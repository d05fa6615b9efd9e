import {
  arbitraryPush,
  type Content,
  type FuzzedPush,
  SPOILINGS,
  TARGETS,
} from '../arbitrary/arbitrary-push.ts'
import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ObjectKind, hashObject, encodeTree } from '../../../../src/git/objects/object.ts'
import type { PackableObject } from '../../../../src/git/packs/pack-writer.ts'
import { encodePack } from '../../../../src/git/packs/pack-writer.ts'
import { leftBehind } from '../../left-behind.ts'
import '../arbitrary/arbitrary-push.ts'
import { addUnfolding, isTooMuch } from '../arbitrary/arbitrary-unfolding.ts'
import type { FuzzedService } from '../fuzzed-service.ts'
import { startFuzzedService } from '../fuzzed-service.ts'
import { seedStore } from '../seed-store.ts'
import { differences, whatPushesReach } from '../../../../test/support/git/what-pushes-reach.ts'

const run = promisify(execFile)

export interface PushFuzz {
  readonly pushes: number
  readonly seed: number
}

/** What came of it. */
export interface PushFuzzFinding {
  /** How often each status was answered; `ok` and `ng` are what git would have been told of the ref. */
  readonly outcomes: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/** Repositories are looked at with git after so many pushes. */
const LOOK_AFTER = 100

/**
 * Pushes of every family over the real route, their bytes changed in the commands, in the pack (with and without the right checksum)
 * or in an object before it was packed, or their dates such as no calendar has; messages end in trailers with paths, trees unfold. Nothing may be
 * answered with 5xx, `git fsck --strict` must find every repository sound, what was not spoilt must be taken, everything that is there can be
 * listed, and the next start must change nothing in the store or beside it.
 */
export async function fuzzPushes({ pushes, seed }: PushFuzz): Promise<PushFuzzFinding> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-pushed-'))
  const storeDir = join(folder, 'store')
  mkdirSync(storeDir)
  let service = await startFuzzedService(storeDir)
  const outcomes = new Map<string, number>()
  const problems: string[] = []
  const onCrash = (error: unknown): void =>
    void problems.push(`not caught: ${error instanceof Error ? error.stack : String(error)}`)
  process.on('uncaughtException', onCrash).on('unhandledRejection', onCrash)
  try {
    await seedStore(service, () => undefined)
    for (let count = 0; count < pushes; count++) {
      const [sample] = fc.sample(arbitraryPush, { numRuns: 1, seed: seed + count })
      if (!sample) break
      const repository = join(service.storeDir, 'default', sample.target.family, `${sample.target.slug}.git`)
      const head = await headOf(repository, sample.target.slug)
      const body = bodyOf(sample, head, count)
      const answer = await fetch(
        `${service.url}/git/${sample.target.family}/${sample.target.slug}.git/git-receive-pack`,
        {
          method: 'POST',
          headers: {
            authorization: service.keys.admin ?? '',
            'content-type': 'application/x-git-receive-pack-request',
          },
          body: new Uint8Array(body),
          signal: AbortSignal.timeout(30_000),
        },
      )
      const text = await answer.text()
      const outcome =
        answer.status === 200 ? (/[0-9a-f]{4}(ok|ng) refs/.exec(text)?.[1] ?? 'nothing') : answer.status
      const key = `${sample.spoiling}: ${outcome}`
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
      const isTaken = outcome === 'ok'
      const isWhole = sample.spoiling === 'nothing' && sample.date === undefined
      const isExpected = !isWhole || isTaken === !(sample.unfolding && isTooMuch(sample.unfolding))
      if (answer.status >= 500 || !isExpected) {
        problems.push(
          `${key} of ${sample.target.family}, seed ${seed + count}: ${text}\n  ${service.takeErrors().join('  ')}\n  ${body.toString('base64').slice(0, 2000)}`,
        )
      }
      if (count % LOOK_AFTER === LOOK_AFTER - 1 || count === pushes - 1) {
        problems.push(...(await lookAt(storeDir)), ...(await listProblems(service)))
        await service.stop({ keepStore: true })
        const before = whatPushesReach(folder)
        await (await startFuzzedService(storeDir)).stop({ keepStore: true })
        service = await startFuzzedService(storeDir)
        const changed = differences(before, whatPushesReach(folder))
        problems.push(...changed.map((path) => `a start changed ${path}, seed ${seed + count} or before`))
      }
    }
    return { outcomes, problems }
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
    process.off('uncaughtException', onCrash).off('unhandledRejection', onCrash)
  }
}

async function headOf(repository: string, branch: string): Promise<string> {
  const { stdout } = await run('git', ['-C', repository, 'rev-parse', `refs/heads/${branch}`])
  return stdout.trim()
}

function bodyOf(
  { target, spoiling, at, date, change, trailers, unfolding }: FuzzedPush,
  head: string,
  count: number,
): Buffer {
  const spoil = (wanted: (typeof SPOILINGS)[number], bytes: Buffer): Buffer =>
    spoiling === wanted ? change(bytes) : bytes
  const message = `Push ${count}\n${trailers === '' ? '' : `\n${trailers}`}`
  const when = date ?? `${1_700_000_000 + count} +0000`
  const objects = objectsOf(
    target.content(count),
    head,
    { when, message, unfolding },
    (bytes, index, last) => (spoiling === 'object' && index === at % last ? change(bytes) : bytes),
  )
  const commit = objects.at(-1)?.oid ?? ''
  const line = `${head} ${commit} refs/heads/${target.slug}\0report-status side-band-64k agent=fuzz\n`
  const commands = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
  const { pack } = encodePack(objects)
  const spoilt = spoil('pack', pack)
  const checked = spoiling === 'pack with its checksum' ? checksummed(change(pack.subarray(0, -20))) : spoilt
  return spoil('all of it', Buffer.concat([spoil('commands', commands), checked]))
}

function checksummed(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()])
}

/** Blobs, then trees from the leaves up, then the commit. `spoil` sees each with its place and how many there will be. */
function objectsOf(
  content: Content,
  parent: string,
  { when, message, unfolding }: CommitParts,
  spoil: (bytes: Buffer, index: number, last: number) => Buffer,
): PackableObject[] {
  const objects: PackableObject[] = []
  const folders = new Set(Object.keys(content).flatMap((path) => foldersOf(path)))
  const last = Object.keys(content).length + folders.size + 1
  const add = (kind: ObjectKind, whole: Buffer): string => {
    const bytes = spoil(whole, objects.length, last)
    const oid = hashObject(kind, bytes)
    objects.push({ oid, kind, bytes })
    return oid
  }
  const tree = addTree('')
  const who = `Fuzz <fuzz@example.com> ${when}`
  add('commit', Buffer.from(`tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\n${message}`))
  return objects

  function addTree(folder: string): string {
    const names = new Set(
      Object.keys(content)
        .filter((path) => path.startsWith(folder))
        .map((path) => path.slice(folder.length).split('/')[0] ?? ''),
    )
    const entries = [...names].map((name) => {
      const blob = content[folder + name]
      return blob === undefined
        ? ({ mode: '40000', name, oid: addTree(`${folder}${name}/`) } as const)
        : ({ mode: '100644', name, oid: add('blob', Buffer.from(blob)) } as const)
    })
    if (folder === '' && unfolding)
      entries.push({ mode: '40000', name: 'unfolding', oid: addUnfolding(unfolding, add) })
    return add('tree', encodeTree(entries))
  }
}

interface CommitParts extends Pick<FuzzedPush, 'unfolding'> {
  readonly when: string
  readonly message: string
}

/** A path's folders; the root is one of them. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return ['', ...names.map((_, index) => names.slice(0, index + 1).join('/'))]
}

/** Whatever was taken, everything else can be listed, and what was taken compared or refused. */
async function listProblems({ url, keys }: FuzzedService): Promise<string[]> {
  const problems: string[] = []
  for (const { family } of TARGETS) {
    const answer = await fetch(`${url}/${family}/revisions/query`, {
      method: 'POST',
      headers: { authorization: keys.admin ?? '', 'content-type': 'application/json' },
      body: '{}',
    })
    const text = await answer.text()
    if (answer.status !== 200) {
      problems.push(`${family}/revisions/query: ${answer.status} ${text.slice(0, 500)}`)
      continue
    }
    // The one list of the answer holds revisions.
    const ids = (Object.values(JSON.parse(text)).find(Array.isArray) as { id: string }[]).map(({ id }) => id)
    const compared = await fetch(`${url}/${family}/revisions/diff`, {
      method: 'POST',
      headers: { authorization: keys.admin ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ base: { id: ids[0] }, head: { id: ids.at(-1) } }),
      signal: AbortSignal.timeout(60_000),
    })
    if (compared.status !== 200 && compared.status !== 413)
      problems.push(`${family}/revisions/diff: ${compared.status} ${(await compared.text()).slice(0, 500)}`)
    else await compared.arrayBuffer()
  }
  return problems
}

async function lookAt(storeDir: string): Promise<string[]> {
  const problems: string[] = []
  for (const { family, slug } of TARGETS) {
    const repository = join(storeDir, 'default', family, `${slug}.git`)
    try {
      const { stdout, stderr } = await run('git', [
        '-C',
        repository,
        'fsck',
        '--strict',
        '--no-dangling',
        '--no-progress',
      ])
      if (`${stdout}${stderr}` !== '') problems.push(`${repository}: ${stdout}${stderr}`)
    } catch (error) {
      problems.push(`${repository}: ${String(error)}`)
    }
    const left = await leftBehind(repository)
    problems.push(...left.map((file) => `${repository}/${file} was left behind`))
  }
  return problems
}
