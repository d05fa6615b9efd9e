import type { Fs } from '../../storage/fs.ts'
import type { Oid } from '../objects/object.ts'
import { gitCommand } from './git-process.ts'
import type { GitConfig } from './git-environment.ts'

/** Where objects come from. */
export interface FetchSource {
  /** The folder of a repository, or an address that git fetches from. */
  readonly url: string
  /** What the git program has to be told to get them: a key, for one. */
  readonly config?: GitConfig
}

/**
 * Brings these objects and all they lead to into a repository, and moves no ref. git reads and hashes each on its way in, and
 * looks whether anything is missing, so what is damaged at the source does not pass. One pack, of files of its own, on the disk
 * when it resolves; rejects with a GitFailure.
 */
export async function fetchObjects(
  fs: Fs,
  gitdir: string,
  { url, config }: FetchSource,
  oids: Iterable<Oid>,
  signal?: AbortSignal,
): Promise<void> {
  const wanted = [...new Set(oids)]
  // git would take another text for a refspec, and move refs.
  for (const oid of wanted)
    if (!/^[0-9a-f]{40}$/.test(oid)) throw new Error(`${JSON.stringify(oid)} is no object id`)
  if (wanted.length === 0) return
  const folder = `${gitdir}/objects/pack`
  const files = (): string[] => fs.readDir(folder) ?? []
  // What a fetch that was cut off had begun.
  for (const name of files()) if (name.startsWith('tmp_')) fs.remove(`${folder}/${name}`)
  const before = new Set(files())
  // In protocol version 2 any object may be asked for by its id, so a ref that moves meanwhile is no matter.
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

/** For a folder of this machine, which may belong to another user than the one who makes a backup of it. */
const UPLOAD_PACK = "--upload-pack=git -c safe.directory='*' upload-pack"
