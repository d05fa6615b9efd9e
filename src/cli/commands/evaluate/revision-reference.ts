import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { objectUuid, parseUuid, repositoryDigits } from '../../../versioning/ids.ts'
import { ask, type Door } from '../backup/ends/door.ts'

/** A reference under the name that a request has it by. */
export type ReferenceMember = Readonly<Record<string, Readonly<Record<string, string | number>>>>

/** The member of a request that a name on the command line means: a slug, `slug@version`, or the id of a revision. */
export function revisionReference(singular: string, name: string): ReferenceMember {
  const id = parseUuid(name)
  if (id !== undefined) return { [`${singular}_revision_ref`]: { id } }
  const [, slug = name, version] = /^(.+)@([1-9][0-9]*)$/.exec(name) ?? []
  return version === undefined
    ? { [`${singular}_ref`]: { slug } }
    : { [`${singular}_revision_ref`]: { slug, version: Number(version) } }
}

/** The revision of an application that a commit of its repository is; `folder` is where the user says so. */
export async function commitReference(
  door: Door,
  slug: string,
  commit: string,
  folder: string,
): Promise<ReferenceMember> {
  const oid = await objectId(commit, folder)
  const answer = z
    .object({ application_revision: z.object({ application_id: z.string() }) })
    .parse(
      await ask(
        door,
        'POST',
        '/applications/revisions/retrieve',
        JSON.stringify({ application_ref: { slug } }),
      ),
    )
  const digits = repositoryDigits(answer.application_revision.application_id)
  return { application_revision_ref: { id: objectUuid(oid, digits) } }
}

async function objectId(commit: string, folder: string): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(commit)) return commit
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--verify', `${commit}^{commit}`], {
      cwd: folder,
    })
    return stdout.trim()
  } catch {
    throw new Refusal(
      'invalid_request',
      `--commit: "${commit}" names no commit in ${folder}. Run it in a clone of the application's repository, or give 40 hex digits.`,
    )
  }
}
