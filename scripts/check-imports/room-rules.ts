import { relative } from 'node:path/posix'
import { AT_THE_ROOT, CONFINED, ROOMS } from './rooms.ts'
import type { SourceFile } from './source-file.ts'

/** The folder of all rooms. */
export const ROOT = 'src'

/** Imports of a room that is above, or of a file that is no part of the other room's surface. */
export function wrongImports({ path, imports }: SourceFile): string[] {
  const own = roomOf(path)
  return imports.flatMap((target) => {
    const room = roomOf(target)
    const name = nameOf(target)
    if (room === own || own === '.') return room !== '.' && room !== own ? notOnSurface(path, room, name) : []
    if (room === '.') return mayUseRoot(own, name) ? [] : [`${path} imports ${target}, which is above it`]
    if (!ROOMS[own]) return [`${path}: there is no room ${own} (scripts/check-imports/rooms.ts)`]
    if (!ROOMS[own].uses.includes(room)) return [`${path} imports ${target}: ${own} may not use ${room}`]
    return notOnSurface(path, room, name)
  })
}

/**
 * Imports between `src`, `scripts` and `test` that go the wrong way: the program needs neither of the others, what runs without the tests of
 * them only what they share with it (`test/support`), and tests no proof and no bench: theirs are in `scripts/test`.
 */
export function crossImports({ path, imports }: SourceFile): string[] {
  return imports.flatMap((target) => {
    const isWrong = CROSSING.some(
      ({ from, to, but }) => from.test(path) && to.test(target) && !but?.test(target),
    )
    return isWrong ? [`${path} imports ${target}: put what both need into ${sharedBy(path)}`] : []
  })
}

const CROSSING: readonly { readonly from: RegExp; readonly to: RegExp; readonly but?: RegExp }[] = [
  { from: /^src\//, to: /^(?:test|scripts)\// },
  { from: /^scripts\//, to: /^test\//, but: /^test\/support\// },
  { from: /^test\//, to: /^scripts\/(?:proofs|bench|test)\// },
]

function sharedBy(path: string): string {
  return path.startsWith('src/') ? 'src' : 'test/support'
}

/** Packages that only other rooms may import. */
export function wrongPackages({ path, packages }: SourceFile): string[] {
  return packages.flatMap((name) => {
    const rooms = CONFINED[name]
    return !rooms || rooms.includes(roomOf(path))
      ? []
      : [`${path} imports ${name}, which only ${rooms.join(', ') || 'nobody'} may`]
  })
}

/** Rooms that use each other, directly or over others: a room must be above all that it uses. */
export function roomCircles(): string[] {
  const below = (room: string, seen: Set<string>): Set<string> => {
    for (const next of ROOMS[room]?.uses ?? []) if (!seen.has(next)) below(next, seen.add(next))
    return seen
  }
  return Object.keys(ROOMS)
    .filter((room) => below(room, new Set()).has(room))
    .map((room) => `the room ${room} is above itself`)
}

/** Entries of surfaces that nobody outside uses: a surface is as small as it can be. */
export function unusedSurface(files: readonly SourceFile[]): string[] {
  const used = new Set(
    files.flatMap(({ path, imports }) => imports.filter((target) => roomOf(target) !== roomOf(path))),
  )
  return Object.entries(ROOMS).flatMap(([room, { surface }]) =>
    surface
      .filter((entry) => ![...used].some((path) => roomOf(path) === room && isOn([entry], nameOf(path))))
      .map((entry) => `${room}/${entry} is on the surface of ${room}, and no other room imports it`),
  )
}

function mayUseRoot(room: string, name: string): boolean {
  return name in AT_THE_ROOT && (AT_THE_ROOT[name]?.includes(room) ?? true)
}

function notOnSurface(path: string, room: string, name: string): string[] {
  return isOn(ROOMS[room]?.surface ?? [], name)
    ? []
    : [`${path} imports ${room}/${name}, which is not on the surface of ${room}`]
}

function isOn(surface: readonly string[], name: string): boolean {
  const folder = name.split('/').slice(0, -1).join('/')
  return surface.includes(name) || (folder !== '' && surface.includes(`${folder}/*`))
}

/** The room of a file, the folder right below the root; `.` for files at the root. */
function roomOf(path: string): string {
  const [first = '', ...rest] = relative(ROOT, path).split('/')
  return rest.length === 0 ? '.' : first
}

/** Where a file is in its room, without its ending; at the root its name. */
function nameOf(path: string): string {
  const parts = relative(ROOT, path).replace(/\.ts$/, '').split('/')
  return (parts.length === 1 ? parts : parts.slice(1)).join('/')
}
