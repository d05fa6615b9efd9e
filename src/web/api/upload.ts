import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Answer, addressOf, refused, Unreachable } from './call.ts'
import { writeOurs } from './ours.ts'
import { refetchShown } from './use-route.ts'

/** The state of an upload. `sent` equals `total` while the server reads the file. */
export type UploadState<R extends UploadRoute> =
  | { readonly at: 'waiting' }
  | { readonly at: 'sending'; readonly sent: number; readonly total: number }
  /** `isSent`: the whole file was sent, so it may be stored although no answer came. */
  | { readonly at: 'failed'; readonly error: unknown; readonly isSent: boolean }
  | { readonly at: 'done'; readonly answer: Answer<R> }

/** Sends one file at a time. A second try with the same file is stored once. Leaving the page cancels it. */
export function useUpload<R extends UploadRoute>(route: R) {
  const [state, setState] = useState<UploadState<R>>({ at: 'waiting' })
  const cache = useQueryClient()
  const running = useRef<AbortController>(undefined)
  const last = useRef<{ readonly of: string; readonly key: string }>(undefined)
  useEffect(() => () => running.current?.abort(new Error('The page was left.')), [])

  /** The server's answer; undefined if the upload was refused or cancelled (see `state`). */
  async function start(it: Pick<Upload, 'path' | 'file' | 'fields'>): Promise<Answer<R> | undefined> {
    const { file, fields, path } = it
    const of = JSON.stringify([file.name, file.size, file.lastModified, fields, path])
    // Another file, or other fields, is another upload.
    if (last.current?.of !== of) last.current = { of, key: randomKey() }
    const { key } = last.current
    const controller = new AbortController()
    running.current = controller
    setState({ at: 'sending', sent: 0, total: file.size })
    let isSent = false
    try {
      const answer = await writeOurs(() =>
        upload(route, {
          ...it,
          idempotencyKey: key,
          signal: controller.signal,
          onProgress: (sent, total) => {
            isSent = sent >= total
            setState({ at: 'sending', sent, total })
          },
        }),
      )
      last.current = undefined
      setState({ at: 'done', answer })
      await refetchShown(cache)
      return answer
    } catch (error) {
      setState(controller.signal.aborted ? { at: 'waiting' } : { at: 'failed', error, isSent })
      return undefined
    }
  }

  return {
    state,
    start,
    cancel: () => running.current?.abort(new Error('It was cancelled.')),
    reset: () => setState({ at: 'waiting' }),
  }
}

/** A random text of hexadecimal digits, for an `Idempotency-Key`. `crypto.randomUUID` exists only over https. */
export function randomKey(digits = 32): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(digits / 2)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/** Routes that take a file. */
export type UploadRoute =
  | 'POST /simple/testsets/upload'
  | 'POST /testsets/revisions/{id}/upload'
  | 'POST /simple/testsets/{id}/upload'

interface Upload {
  readonly path?: Readonly<Record<string, string>>
  readonly file: File
  /** Form fields beside the file; empty ones are left out. */
  readonly fields: Readonly<Record<string, string>>
  /** The same for every try, so that a file that did arrive is not stored twice. */
  readonly idempotencyKey: string
  /** Called with the bytes sent so far, and the total. */
  readonly onProgress: (sent: number, total: number) => void
  readonly signal: AbortSignal
}

/** Sends a file. Throws a `Problem` with the server's message, `Unreachable`, or the reason of the signal. */
function upload<R extends UploadRoute>(route: R, it: Upload): Promise<Answer<R>> {
  const { path = {}, file, fields, idempotencyKey, onProgress, signal } = it
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.append(name, value)
  form.append('file', file)
  return new Promise((resolve, reject) => {
    // Only XMLHttpRequest reports the progress of a body.
    const request = new XMLHttpRequest()
    request.open('POST', addressOf(route, { path } as unknown as Parameters<typeof addressOf<R>>[1]))
    request.setRequestHeader('Idempotency-Key', idempotencyKey)
    request.responseType = 'text'
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total)
    request.upload.onload = ({ loaded }) => onProgress(loaded, loaded)
    request.onload = () => {
      const answer = documentOf(request.responseText)
      if (request.status >= 200 && request.status < 300) resolve(answer as Answer<R>)
      else reject(refused(request.status, answer))
    }
    request.onerror = () => reject(new Unreachable())
    signal.addEventListener('abort', () => {
      request.abort()
      reject(signal.reason as Error)
    })
    request.send(form)
  })
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
