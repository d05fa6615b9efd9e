import { resolve } from 'node:path'
import { isProjectName } from '../../../../access/project-name.ts'
import type { Config } from '../../../../config.ts'
import { Refusal } from '../../../../errors.ts'
import { readAllRefs } from '../../../../git/refs/list-refs.ts'
import { nodeFs } from '../../../../storage/node-fs.ts'
import { assertServable } from '../../../../git/repository-format.ts'
import { openStore } from '../../../command/open-store.ts'
import { familiesOf } from '../families-of.ts'
import { pathOfName } from '../repository-name.ts'
import type { Source, SourceRepository } from './source.ts'

/** The store in a folder of this machine, or in a database, which servers may be using; all its projects, or the one that is named. */
export async function localSource(config: Config, only: string | undefined): Promise<Source> {
  const folder = resolve(config.storeDir)
  if (config.store === undefined && !nodeFs.stat(`${folder}/format`)) {
    throw new Refusal('storage_unavailable', `There is no store at ${folder}; name its folder with --store.`)
  }
  // Opened as a server does it: what a power cut left to the journals is put in place first.
  const { store, dir, name, close } = await openStore(config)
  const projects = store.projects().filter((name) => isProjectName(name) && (only ?? name) === name)
  if (only !== undefined && projects.length === 0) {
    await close()
    throw new Refusal('artifact_not_found', `There is no project "${only}" in ${name}.`)
  }
  const list = async (): Promise<SourceRepository[]> => {
    const found: SourceRepository[] = []
    for (const project of projects) {
      const repositories = await store.project(project)
      for (const { folder: family } of familiesOf(config)) {
        for (const slug of repositories.slugs(family)) {
          const url = `${dir}/${pathOfName({ project, family, slug })}`
          const refs: SourceRepository['refs'] = async () => {
            await assertServable(nodeFs, url)
            return readAllRefs(nodeFs, url)
          }
          found.push({ project, family, slug, objects: { url }, refs })
        }
      }
    }
    return found
  }
  return {
    name,
    projects,
    isWhole: only === undefined,
    state: { fs: store.fs, dir },
    list,
    close,
  }
}
