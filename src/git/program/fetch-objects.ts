import type { Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'
import { gitCommand } from './git-process.ts'
import type { GitConfig } from './git-environment.ts'

/** The source of objects. */
export interface FetchSource {
  /** A repository's folder, or a URL that git can fetch from. */
  readonly url: string
  /** Settings that git needs for the source, such as a key. */
  readonly config?: GitConfig
}

/**
 * Fetches objects and everything they reach into a repository, without moving refs. git parses and hashes each object and checks that none is
 * missing, so damage in the source is detected. The objects are in one pack, on the disk when this resolves. Rejects with a GitFailure.
 */
export async function fetchObjects(
  fs: Fs,
  gitdir: string,
  { url, config }: FetchSource,
  oids: Iterable<Oid>,
  signal?: AbortSignal,
): Promise<void> {
  const wanted = [...new Set(oids)]
  // git would take any other text for a refspec, and move refs.
  for (const oid of wanted)
    if (!/^[0-9a-f]{40}$/.test(oid)) throw new Error(`${JSON.stringify(oid)} is no object id`)
  if (wanted.length === 0) return
  const folder = `${gitdir}/objects/pack`
  const files = (): string[] => fs.readDir(folder) ?? []
  // Files left by an interrupted fetch.
  for (const name of files()) if (name.startsWith('tmp_')) fs.remove(`${folder}/${name}`)
  const before = new Set(files())
  // Protocol version 2 allows any object id, so refs that move meanwhile do not matter.
  const settings = { 'protocol.version': '2', 'fetch.unpackLimit': '1', ...config }
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--stdin']
  if (url.startsWith('/')) options.push(UPLOAD_PACK)
  const input = wanted.map((oid) => `${oid}\n`).join('')
  await gitCommand(['fetch', ...options, url], {
    gitdir,
    input,
    config: settings,
    signal,
  })
  const fresh = files().filter((name) => !before.has(name))
  await Promise.all(fresh.map((name) => fs.sync(`${folder}/${name}`)))
  await fs.syncDir(folder)
}

/** For a folder on this machine that may belong to another user. */
const UPLOAD_PACK = "--upload-pack=git -c safe.directory='*' upload-pack"
