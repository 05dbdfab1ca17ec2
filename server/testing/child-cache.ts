// Tests are compiled without Node's compile cache (see vitest.config.ts); the processes that they start use it.
delete process.env.NODE_DISABLE_COMPILE_CACHE
