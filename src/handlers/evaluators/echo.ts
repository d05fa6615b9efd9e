import { getKey, type Json } from '../../json/json.ts'
import type { HandlerRequest } from '../handler.ts'

/** `svc:builtin:echo:v0`: the input `aloha`, or null. */
export function echo({ inputs }: HandlerRequest): Json {
  return { got: (inputs && getKey(inputs, 'aloha')) ?? null }
}
