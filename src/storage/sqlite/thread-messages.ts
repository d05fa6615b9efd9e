import type { RefusalCode, RefusalData } from '../../errors.ts'

/** What a thread can be asked to do with a file, by the name of the work. */
export type Works<W> = { readonly [N in keyof W]: { readonly asks: object; readonly answers: unknown } }

/** A piece of work as it is sent to a thread. */
export type ThreadRequest<W extends Works<W>> = {
  readonly [N in keyof W]: {
    readonly id: number
    readonly work: N
    readonly file: string
    /** Where no other file may be opened than this one (see DatabaseFile). */
    readonly inodes?: string
    readonly asks: W[N]['asks']
  }
}[keyof W]

/** Sent to a thread that is to end, after its `ThreadSignal` says so. */
export const END = 'end'

/** What comes back. */
export type ThreadReply =
  { readonly id: number; readonly answer: unknown } | { readonly id: number; readonly failure: ThreadFailure }

/** Why work was not done: a refusal to pass on, a file that cannot be used now, or a bug. */
export type ThreadFailure =
  | {
      readonly kind: 'refusal'
      readonly code: RefusalCode
      readonly message: string
      readonly data: RefusalData
    }
  | { readonly kind: 'storage'; readonly message: string; readonly isDamage: boolean }
  | { readonly kind: 'bug'; readonly message: string; readonly stack: string | undefined }
