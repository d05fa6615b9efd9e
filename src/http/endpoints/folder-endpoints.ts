import { z } from 'zod'
import {
  isHalfMoved,
  keysOfFolder,
  requireScope,
  settleMovedKeys,
  widenKeysToMove,
  type Caller,
  type ResultAddress,
} from '../../access/keys.ts'
import { isWithinLimits } from '../../base/folders.ts'
import { invalid, Refusal } from '../../errors.ts'
import { artifactsWithin, listFolders, moveFolder, type RecordedArtifact } from '../../registry/artifacts.ts'
import type { Surface } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import type { Fs } from '../../storage/files.ts'
import { type Call, type Endpoint, endpoint, type EndpointResponse } from '../routing/endpoint.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { folder } from '../schemas/request-schemas.ts'

/** The folders of a project, and moving one (interface 18.4, 18.5). */
export function folderEndpoints(surfaces: readonly Surface[], place: KeyFiles): Endpoint[] {
  const tag = 'folders'
  // The surface of all workflows matches what no narrower one matches.
  const narrowFirst = [...surfaces].sort((a, b) => flagsOf(b).length - flagsOf(a).length)
  const present = (artifact: RecordedArtifact): object => ({
    kind: narrowFirst.find((it) => isOf(artifact, it))?.singular ?? artifact.family.name,
    id: artifact.id,
    slug: artifact.slug,
    folder: artifact.record.folder ?? '',
  })
  const answer = (outcome: Outcome): EndpointResponse => ({
    body: {
      count: outcome.moved.length,
      moved: outcome.moved.map(present),
      failed: outcome.failed.map(({ artifact, code }) => ({ ...present(artifact), code })),
    },
    address: addressOf(outcome),
  })

  return [
    endpoint({
      method: 'GET',
      path: '/folders',
      tag,
      summary: 'The folders that hold something, and how many artifacts lie in each and below it',
      scope: 'read',
      input: z.object({
        include_archived: z
          .enum(['true', 'false'], 'must be true or false')
          .optional()
          .meta({ description: 'Whether archived artifacts count, too.' }),
      }),
      fromQuery: queryParameters(['include_archived']),
      output: z.strictObject({ count: z.int().min(0), folders: z.array(folderRecord) }),
      run: async ({ registry, input, untilGone }) => {
        const asked = { includeArchived: input.include_archived === 'true', signal: untilGone() }
        const folders = await listFolders(registry, asked)
        return { body: { count: folders.length, folders: folders.map(presentFolder) } }
      },
    }),
    endpoint({
      method: 'POST',
      path: '/folders/move',
      tag,
      summary: 'Move all that lies in a folder or below it, each artifact by a write of its own',
      scope: 'write',
      input: z.object({
        from: folder,
        to: folder,
        rename_in_keys: z.boolean().optional().meta({
          description:
            'Also changes the API keys that are limited to the folder or to one below it, which needs the scope admin. Else such a key refuses the move.',
        }),
      }),
      output: z.strictObject({
        count: z.int().min(0),
        moved: z.array(movedRecord),
        failed: z.array(movedRecord.extend({ code: z.string() })),
      }),
      example: { from: 'support', to: 'customers/support' },
      run: async ({ registry, input, context, caller, untilGone }) => {
        const { rename_in_keys: renames = false, ...move } = input
        if (renames) requireScope(caller, ['admin'])
        const signal = untilGone()
        if (!renames) {
          const before = async (): Promise<void> => assertNoKeysOf(place, caller, move)
          return answer(await moveFolder(registry, move, context, { signal, before }))
        }
        return answer(await moveWithKeys(place, registry, move, { context, signal, project: caller.project }))
      },
      recall: async ({ registry }, address) => answer(await outcomeAt(registry, address)),
    }),
  ]
}

const folderRecord = z.strictObject({
  path: z.string(),
  artifacts: z.int().min(0).meta({ description: 'How many lie in it.' }),
  recursive: z.int().min(0).meta({ description: 'How many lie in it or below it.' }),
})

const movedRecord = z.strictObject({ kind: z.string(), id: z.uuid(), slug: z.string(), folder: z.string() })

function presentFolder({ path, artifacts, recursive }: z.infer<typeof folderRecord>): object {
  return { path, artifacts, recursive }
}

/** Where the keys of projects are. */
interface KeyFiles {
  readonly fs: Fs
  readonly storeDir: string
}

interface Move {
  readonly from: string
  readonly to: string
}

/** Refuses to move a folder that live keys are limited to (interface 18.10). */
function assertNoKeysOf({ fs, storeDir }: KeyFiles, { project, key }: Caller, { from }: Move): void {
  const keys = keysOfFolder(fs, storeDir, project, from)
  if (keys.length === 0) return
  throw new Refusal(
    'folder_in_use',
    `API keys are limited to "${from}" or to a folder below it, and would lose sight of it. Send rename_in_keys: true with a key of the scope admin, which changes them, too; or revoke them.`,
    // A limited key learns nothing of other folders.
    { keys: keys.map(({ id, name, folders }) => (key.folders ? { id, name } : { id, name, folders })) },
  )
}

/**
 * Moves a folder and has the live keys that are limited to it follow (interface 18.10). They get the new folder before the first write and
 * lose the old one after the last, so that they see everything meanwhile, also if the server dies. What could not be moved keeps its old
 * folder in the keys.
 */
async function moveWithKeys(
  { fs, storeDir }: KeyFiles,
  registry: Registry,
  move: Move,
  { context, signal, project }: Pick<Call<unknown>, 'context'> & { signal: AbortSignal; project: string },
): Promise<Outcome> {
  const keys = keysOfFolder(fs, storeDir, project, move.from)
  if (keys.length === 0) return moveFolder(registry, move, context, { signal })
  let added: ReadonlyMap<string, readonly string[]> = new Map()
  const before = async (): Promise<void> => {
    if (move.to === '')
      throw invalid(
        ['body', 'to'],
        'a key cannot be limited to the root; name a folder, or revoke the keys first.',
        'invalid_folder',
      )
    added = await widenKeysToMove(fs, storeDir, project, move)
  }
  // An earlier request may have moved everything, and ended before the keys lost the old folder.
  const mayBeEmpty = keys.some((key) => isHalfMoved(key, move))
  const outcome = await moveFolder(registry, move, context, { signal, before, mayBeEmpty })
  const moved = new Set(outcome.moved.map(({ id }) => id))
  const left = (await artifactsWithin(registry, move.from)).filter(({ view }) => !moved.has(view.id))
  await settleMovedKeys(fs, storeDir, project, move, {
    added,
    remains: (entry) => left.some(({ record }) => isWithinLimits(record.folder ?? '', [entry])),
    came: (entry) => outcome.moved.some(({ record }) => isWithinLimits(record.folder ?? '', [entry])),
  })
  return outcome
}

type Outcome = Awaited<ReturnType<typeof moveFolder>>

function addressOf({ moved, failed }: Outcome): ResultAddress {
  return {
    id: '',
    folder: {
      moved: moved.map(({ id }) => id),
      failed: failed.map(({ artifact: { id }, code }) => ({ id, code })),
    },
  }
}

/** What became of the artifacts of an earlier request, each as it is now; those that are gone are left out. */
async function outcomeAt({ index }: Registry, { folder: outcome }: ResultAddress): Promise<Outcome> {
  const moved: RecordedArtifact[] = []
  const failed: { artifact: RecordedArtifact; code: string }[] = []
  for (const id of outcome?.moved ?? []) {
    const artifact = await index.findByDigits(id)
    if (artifact) moved.push(artifact)
  }
  for (const { id, code } of outcome?.failed ?? []) {
    const artifact = await index.findByDigits(id)
    if (artifact) failed.push({ artifact, code })
  }
  return { moved, failed }
}

function flagsOf({ fixedFlags }: Surface): string[] {
  return Object.keys(fixedFlags).filter((flag) => fixedFlags[flag])
}

function isOf({ family, record }: RecordedArtifact, surface: Surface): boolean {
  return surface.family === family && flagsOf(surface).every((flag) => record.flags?.[flag])
}
