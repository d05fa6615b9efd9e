import { getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { CallOptions } from '../language-model.ts'
import { textAt } from './members.ts'
import { ModelFailure } from '../models.ts'

/** A part of what a user says. */
export type UserPart = Extract<CallOptions['prompt'][number], { role: 'user' }>['content'][number]

/**
 * A content part of the chat-completions protocol (interface 11.19) as the AI SDK has it: text, images, files and sound, as
 * data or by address. Nothing is fetched: the provider gets the address. Throws a `ModelFailure` that names the part.
 */
export function translatePart(part: Json, place: string): UserPart {
  const type = isJsonObject(part) ? textAt(part, 'type') : undefined
  const held = isJsonObject(part) && type !== undefined ? getKey(part, type) : undefined
  if (type === 'text' && typeof held === 'string') return { type, text: held }
  if (isJsonObject(held)) {
    if (type === 'image_url') return fileAt(textAt(held, 'url'), 'image/*', `${place}.image_url.url`)
    if (type === 'file') return fileOf(held, `${place}.file`)
    if (type === 'input_audio')
      return { type: 'file', mediaType: `audio/${textAt(held, 'format')}`, data: textAt(held, 'data') ?? '' }
  }
  throw new ModelFailure(
    'request',
    `${place} is no part that this provider knows: its type is '${type ?? ''}'.`,
  )
}

function fileOf(file: JsonObject, place: string): UserPart {
  const mediaType = textAt(file, 'mime_type') ?? textAt(file, 'format') ?? 'application/pdf'
  const data = textAt(file, 'file_data')
  const name = textAt(file, 'file_name') ?? textAt(file, 'filename')
  const found =
    data !== undefined && !data.startsWith('data:')
      ? { type: 'file' as const, mediaType, data }
      : fileAt(data ?? textAt(file, 'file_url'), mediaType, place)
  return name === undefined ? found : { ...found, filename: name }
}

/** A file by its address; a `data:` address holds it. */
function fileAt(url: string | undefined, mediaType: string, place: string): UserPart & { type: 'file' } {
  const comma = url?.startsWith('data:') ? url.indexOf(',') : -1
  if (url !== undefined && comma > 0 && url.slice(0, comma).endsWith(';base64')) {
    const [named = ''] = url.slice('data:'.length, comma).split(';')
    return { type: 'file', mediaType: named || mediaType, data: url.slice(comma + 1) }
  }
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url))
    throw new ModelFailure('request', `${place} is neither an http or https address nor base64 data.`)
  return { type: 'file', mediaType, data: new URL(url) }
}
