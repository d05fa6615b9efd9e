import { del, entries, get, set } from 'idb-keyval'
import { lengthAt } from '../json-text/json-text.ts'
import { draftsKept } from './drafts-kept.ts'

/** A prompt or an evaluator that exists only as a draft: its first save creates it. */
export interface Making {
  readonly kind: 'applications' | 'evaluators'
  readonly slug: string
  readonly name: string
  readonly folder?: string | undefined
}

/** Saves the draft of something new in this browser, where the editor of its first version finds it. `data` is JSON text. */
export async function keepNewDraft(project: string, making: Making, data: string): Promise<void> {
  const messages = lengthAt(data, ['parameters', 'prompt', 'messages']) ?? lengthAt(data, JUDGE) ?? 0
  const base = { revisionId: '', version: 0, variantId: '', text: '{}', making }
  const editing = { text: data, typed: undefined, ids: Array.from({ length: messages }, (_, at) => at) }
  await set(nameOf(project, making.slug), { base, editing, savedAt: new Date().toISOString() }, draftsKept)
}

const JUDGE = ['parameters', 'prompt_template']

/** What is written in this browser and was never saved on the server. */
export async function newDrafts(project: string): Promise<readonly Making[]> {
  const all = await entries<string, { readonly base?: { readonly making?: Making } }>(draftsKept)
  return all.flatMap(([name, { base }]) =>
    base?.making && name === nameOf(project, base.making.slug) ? [base.making] : [],
  )
}

/** Whether this browser has a draft of this ID. */
export async function hasDraft(project: string, slug: string): Promise<boolean> {
  return (await get(nameOf(project, slug), draftsKept)) !== undefined
}

/** Deletes the draft of something that was never saved. */
export function dropNewDraft(project: string, { slug }: Making): Promise<void> {
  return del(nameOf(project, slug), draftsKept)
}

function nameOf(project: string, slug: string): string {
  return `${project}/${slug}/${slug}`
}

/** The request that creates it with its first version. `data` is JSON text, sent as it is. */
export function bodyOfNew({ kind, slug, name, folder }: Making, data: string, message: string): string {
  const header = JSON.stringify({
    slug,
    ...(name === '' ? {} : { name }),
    ...(folder === undefined ? {} : { folder }),
    ...(message.trim() === '' ? {} : { message: message.trim() }),
    flags: { [kind === 'evaluators' ? 'is_evaluator' : 'is_application']: true },
  })
  return `{"workflow":${header.slice(0, -1)},"data":${data}}}`
}
