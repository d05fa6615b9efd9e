import { refuseShell } from '../../../src/storage/files/durable-folder.ts'
import type { DiskNames } from './disk-names.ts'
import { errno, namesIn } from './disk-names.ts'
import type { DiskNode } from './disk-nodes.ts'
import { DiskFile, DiskFolder } from './disk-nodes.ts'
import type { DiskSteps } from './disk-steps.ts'
import { StepFailed } from './disk-steps.ts'

/** What of a simulated disk's calls is done at once, each a step or several; they fail as the system's own do. */
export class DiskCalls {
  readonly #names: DiskNames
  readonly #steps: DiskSteps

  constructor(names: DiskNames, steps: DiskSteps) {
    this.#names = names
    this.#steps = steps
  }

  create(path: string): DiskFile {
    const place = this.#names.place(path, 'open')
    if (place.folder.entries.has(place.name)) throw errno('EEXIST', 'open', path)
    this.#steps.take('create', path)
    const file = new DiskFile(Date.now())
    this.#names.change([{ ...place, node: file }])
    return file
  }

  write(path: string, file: DiskFile, bytes: Uint8Array, at: number): void {
    try {
      this.#steps.take('write', path)
    } catch (error) {
      if (error instanceof StepFailed && error.isShort)
        this.#put(file, bytes.subarray(0, Math.floor(bytes.length / 2)), at)
      throw error
    }
    if (bytes.length > 0) this.#put(file, bytes, at)
  }

  #put(file: DiskFile, bytes: Uint8Array, at: number): void {
    file.write({ order: this.#names.nextOrder(), at, bytes: Buffer.from(bytes) })
  }

  makeDir(path: string): void {
    let folder = this.#names.root
    let at = ''
    for (const name of namesIn(path)) {
      at += `/${name}`
      let child = folder.entries.get(name)
      if (child?.kind === 'file') throw errno(at === path ? 'EEXIST' : 'ENOTDIR', 'mkdir', path)
      if (!child) {
        if (at !== path) refuseShell(at)
        this.#steps.take('makeDir', at)
        child = new DiskFolder(Date.now())
        this.#names.change([{ folder, name, node: child }])
      }
      folder = child
    }
  }

  rename(from: string, to: string): void {
    const source = this.#names.place(from, 'rename')
    const node = source.folder.entries.get(source.name)
    if (!node) throw errno('ENOENT', 'rename', from)
    const target = this.#names.place(to, 'rename')
    const replaced = target.folder.entries.get(target.name)
    if (replaced?.kind === 'folder' && node.kind === 'file') throw errno('EISDIR', 'rename', to)
    if (replaced?.kind === 'file' && node.kind === 'folder') throw errno('ENOTDIR', 'rename', to)
    if (replaced?.kind === 'folder' && replaced.entries.size > 0) throw errno('ENOTEMPTY', 'rename', to)
    this.#steps.take('rename', to)
    // rename(2): two names of one file stay as they are
    if (replaced === node) return
    this.#names.change([
      { ...target, node },
      { ...source, node: undefined },
    ])
  }

  link(from: string, to: string): void {
    const file = this.#names.file(from)
    if (!file) throw errno('ENOENT', 'link', from)
    const place = this.#names.place(to, 'link')
    if (place.folder.entries.has(place.name)) throw errno('EEXIST', 'link', to)
    this.#steps.take('link', to)
    this.#names.change([{ ...place, node: file }])
  }

  remove(path: string): void {
    const node = this.#names.find(path)
    if (!node) return
    if (node.kind === 'folder') throw errno('EISDIR', 'unlink', path)
    this.#steps.take('remove', path)
    this.#names.change([{ ...this.#names.place(path, 'unlink'), node: undefined }])
  }

  /** What a call that failed tidies up, which fails too if the disk does. */
  removeAnyway(path: string): void {
    try {
      this.remove(path)
    } catch {
      // The caller is told of the first error.
    }
  }

  removeFolder(path: string): boolean {
    const node = this.#names.find(path)
    if (node?.kind !== 'folder') return true
    if (node.entries.size > 0) return false
    this.#steps.take('remove', path)
    this.#names.change([{ ...this.#names.place(path, 'rmdir'), node: undefined }])
    return true
  }

  removeTree(path: string): void {
    const node = this.#names.find(path)
    if (!node) return
    if (node.kind === 'folder') {
      for (const name of [...node.entries.keys()]) this.removeTree(`${path}/${name}`)
    }
    this.#steps.take('remove', path)
    this.#names.change([{ ...this.#names.place(path, 'rm'), node: undefined }])
  }

  read(path: string): DiskNode | undefined {
    const node = this.#names.find(path)
    if (node) this.#steps.read(path)
    return node
  }
}
