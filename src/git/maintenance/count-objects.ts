import type { Fs } from '../../storage/fs.ts'

/** What piles up in a repository that is written to. */
export interface ObjectCounts {
  /** Packs that may be repacked: those without a `.keep`. */
  readonly packs: number
  readonly looseObjects: number
  readonly looseRefs: number
  /** Of all packs. */
  readonly packedBytes: number
}

/** Counts what lies about in a repository: a look at some folders, no file is opened. */
export function countObjects(fs: Fs, gitdir: string): ObjectCounts {
  const folder = `${gitdir}/objects/pack`
  const names = new Set(fs.readDir(folder) ?? [])
  const packs = [...names].filter((name) => /^pack-.*\.pack$/.test(name))
  const fanOut = (fs.readDir(`${gitdir}/objects`) ?? []).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return {
    packs: packs.filter((name) => !names.has(name.replace(/pack$/, 'keep'))).length,
    looseObjects: sum(fanOut.map((name) => fs.readDir(`${gitdir}/objects/${name}`)?.length ?? 0)),
    looseRefs: looseRefsIn(fs, `${gitdir}/refs`),
    packedBytes: sum(packs.map((name) => fs.stat(`${folder}/${name}`)?.size ?? 0)),
  }
}

function looseRefsIn(fs: Fs, folder: string): number {
  return sum(
    (fs.readDir(folder) ?? []).map((name) => {
      const path = `${folder}/${name}`
      if (fs.stat(path)?.kind === 'folder') return looseRefsIn(fs, path)
      return name.endsWith('.lock') ? 0 : 1
    }),
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
