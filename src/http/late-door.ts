import { lazily } from '../lazily.ts'
import type { Door } from './door.ts'

/** The door to everything below a path, which is opened by the first request for it and is then asked like any other. */
export function lateDoor(path: string, open: () => Promise<Door>): Door {
  const opened = lazily(open)
  return (ctx) => {
    if (!ctx.path.startsWith(path)) return undefined
    const door = opened()
    return door instanceof Promise ? door.then((it) => it(ctx)) : door(ctx)
  }
}
