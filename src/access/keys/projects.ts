import { z } from 'zod'
import { invalid, Refusal } from '../../errors.ts'
import { documentsOf, type Fs, JsonRecordFile } from '../../storage/files.ts'
import { DEFAULT_PROJECT, isProjectName } from './project-name.ts'

/** A project that was made over REST, or with its first key. A project that an earlier version made has a folder, and no record. */
export type ProjectRecord = Readonly<z.infer<typeof projectRecord>>

const projectRecord = z.strictObject({
  name: z.string(),
  /** The key that came with the project. */
  key_id: z.uuid(),
  created_at: z.iso.datetime(),
  /** The principal that made it; absent if the command line did, on the store itself. */
  created_by: z.string().optional(),
})

const projectFile = new JsonRecordFile({
  schema: z.strictObject({ format: z.literal(1), projects: z.array(projectRecord).readonly() }),
  damage: (path, why) =>
    `${path} is not a list of projects: ${why}. Restore it from a backup, or remove it: only who made which project is lost.`,
  indent: 2,
})

/** In the project `default`, whose admins make projects. */
function projectFilePath(storeDir: string): string {
  return `${storeDir}/${DEFAULT_PROJECT}/projects.json`
}

/** The records of projects, in order of creation. Refuses an unreadable file, by its path. */
export function projectRecords(fs: Fs, storeDir: string): readonly ProjectRecord[] {
  return projectFile.read(fs, projectFilePath(storeDir))?.projects ?? []
}

/** The projects of a store, sorted, including those that are only a folder. */
export function projectNames(fs: Fs, storeDir: string): readonly string[] {
  return (fs.readDir(storeDir) ?? [])
    .filter((name) => isProjectName(name) && fs.stat(`${storeDir}/${name}`)?.kind === 'folder')
    .sort()
}

/** Names made from now on have at most this many characters; earlier ones may have one more. */
export const MAX_PROJECT_NAME = 63

/**
 * Takes a project's name, on all servers of the store; resolves when this is durable. Refuses with `project_exists` a name that something in
 * the store has, in whichever case.
 */
export async function takeProjectName(fs: Fs, storeDir: string, project: ProjectRecord): Promise<void> {
  const { name } = project
  if (name.length > MAX_PROJECT_NAME)
    throw invalid(['name'], `the name has ${name.length} characters; at most ${MAX_PROJECT_NAME} fit.`)
  await projectFile.update(documentsOf(fs), projectFilePath(storeDir), (before) => {
    const projects = before?.projects ?? []
    const names = [DEFAULT_PROJECT, ...projects.map((it) => it.name), ...(fs.readDir(storeDir) ?? [])]
    const rival = names.find((it) => it.toLowerCase() === name.toLowerCase())
    if (rival !== undefined) throw projectExists(name, rival)
    return { record: { format: 1, projects: [...projects, project] }, answer: undefined }
  })
}

/** Gives the name back of a project that could not be made. */
export async function returnProjectName(fs: Fs, storeDir: string, keyId: string): Promise<void> {
  await projectFile.update(documentsOf(fs), projectFilePath(storeDir), (before) => ({
    record: { format: 1, projects: (before?.projects ?? []).filter((it) => it.key_id !== keyId) },
    answer: undefined,
  }))
}

function projectExists(name: string, rival: string): Refusal {
  return new Refusal(
    'project_exists',
    `The name "${name}" is taken: the store has "${rival}" already, and case makes no difference. Choose another name; or have ` +
      'another key of that project made, by one of its admins or on the server’s machine.',
    { conflict: { name: rival } },
  )
}
