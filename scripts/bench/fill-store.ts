import type { Fs } from '../../src/storage/files/fs.ts'
import { spawnSync } from 'node:child_process'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { Store } from '../../src/git/store/store.ts'
import { workflowFamily } from '../../src/run/handlers/workflows.ts'
import { createArtifact } from '../../src/registry/artifacts/create-artifact.ts'
import { openRegistry } from '../../src/registry/store/open-registry.ts'
import { commitRevision } from '../../src/registry/revisions/commit-revision.ts'
import type { WriteContext } from '../../src/registry/store/write-context.ts'
import { progress } from './progress.ts'

/** The word that the message of every so many revisions holds, `PAGE` of them in all. */
export const RARE_WORD = 'rollback'

/** When the first artifact of a filled store was made; each further one a second later. */
export const FILLED_FROM = Date.parse('2026-01-01T00:00:00Z')

/** Rows of a page. */
export const PAGE = 20

/** A word that the messages of the revisions of one artifact in a hundred hold. */
export const SCARCE_WORD = 'escalation'

/** So many artifacts are tagged `{"shelf": "front"}`, or one more. */
export const ON_SHELF = 200

/** So many authors took turns, `bench 0 <bench@example.org>` and so on. */
const AUTHORS = 10

/**
 * Makes `count` applications by the way that a request takes, without waiting for the disk until all are there: every tenth tagged
 * `{"team": "support"}`, each with one revision or more. First revisions are older than second ones.
 */
export async function fillStore(storeDir: string, count: number, revisions = 1): Promise<void> {
  const store = await Store.open(unsynced(nodeFs), storeDir)
  let number = 0
  let version = 1
  const settings = {
    servicesBase: 'http://127.0.0.1/services',
    now: () => new Date(FILLED_FROM + ((version - 1) * count + number) * 1000),
  }
  const { registry, close } = await openRegistry(await store.project('default'), [workflowFamily], settings)
  for (; number < count; number++) {
    version = 1
    const isRare = number % Math.ceil(count / PAGE) === 0
    const message = isRare
      ? `After the ${RARE_WORD}`
      : `As the manual has it${isScarce(number) ? `: ${SCARCE_WORD}` : ''}`
    const artifact = await createArtifact(
      registry,
      workflowFamily,
      {
        slug: `bot-${number}`,
        header: {
          name: `Bot ${number}`,
          flags: { is_application: true, is_evaluator: false, is_snippet: false },
          tags: {
            team: number % 10 === 0 ? 'support' : 'sales',
            shelf: number % Math.ceil(count / ON_SHELF) === 0 ? 'front' : 'back',
          },
        },
        withVariant: { revision: { message, payload: promptData(number) } },
        loc: [],
      },
      as(number),
    )
    const [variant] = artifact.variants
    while (variant && version < revisions) {
      version++
      const data = promptData(number + version * count)
      await commitRevision(
        registry,
        { artifact, variant },
        { data, message, header: {}, loc: [] },
        as(number),
      )
    }
    if (number % 500 === 499) progress(`${number + 1} of ${count} artifacts`)
  }
  close()
  await store.close()
  progress(`${count} artifacts: written to the disk`)
  spawnSync('sync', ['--file-system', storeDir])
  progress('')
}

function isScarce(number: number): boolean {
  return number % 100 === 7
}

function as(number: number): WriteContext {
  const id = '00000000-0000-4000-8000-000000000000'
  return { actor: { id, name: `bench ${number % AUTHORS}`, email: 'bench@example.org' } }
}

/** Lengthens the main branch of a workflow to `count` revisions with `git fast-import`, as a restore or migration would. */
export function lengthen(repository: string, branch: string, count: number): void {
  const stream = []
  for (let number = 2; number <= count; number++) {
    const data = `${JSON.stringify(promptData(number), undefined, 2)}\n`
    stream.push(
      `commit refs/heads/${branch}\ncommitter bench <bench@example.org> ${1_700_000_000 + number} +0000\n`,
      `data ${Buffer.byteLength(`Revision ${number}\n`)}\nRevision ${number}\n\n`,
      number === 2 ? `from refs/heads/${branch}^0\n` : '',
      `M 100644 inline data.json\ndata ${Buffer.byteLength(data)}\n${data}\n`,
    )
  }
  const result = spawnSync('git', ['fast-import', '--quiet'], { cwd: repository, input: stream.join('') })
  if (result.status !== 0) throw new Error(`git fast-import: ${result.stderr.toString()}`)
}

/** A prompt of about two kilobytes, different for every number. */
export function promptData(number: number): JsonObject {
  return {
    parameters: {
      prompt: {
        messages: [
          {
            role: 'system',
            content: `You answer tickets of queue ${number}. ${'Be kind, be brief, cite the manual. '.repeat(45)}`,
          },
          { role: 'user', content: '{{question}}' },
        ],
        llm_config: { model: 'gpt-4o-mini', temperature: 0.2, max_tokens: 400 },
        template_format: 'curly',
      },
    },
  }
}

/** A disk that is never waited for: the same files as on `fs`, for stores that nobody misses after a power cut. */
function unsynced(fs: Fs): Fs {
  const sync = async (): Promise<void> => undefined
  return {
    ...fs,
    createSynced: async (path, bytes, mode) => {
      if (mode !== undefined) return fs.createSynced(path, bytes, mode)
      fs.create(path, bytes)
    },
    createLog: (path) => ({ ...fs.createLog(path), sync }),
    createFile: (path) => ({ ...fs.createFile(path), sync }),
    sync,
    syncAll: sync,
    syncDir: sync,
  }
}
