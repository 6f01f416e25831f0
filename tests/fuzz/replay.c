/* SPDX-License-Identifier: MIT */
/* Feeds files to a fuzz target without a fuzzer: the corpus as a test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char *argv[])
{
	static uint8_t buffer[4 * 1024 * 1024];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "re");
		size_t size;

		if (file == NULL) {
			perror(argv[i]);
			return 1;
		}
		size = fread(buffer, 1, sizeof(buffer), file);
		fclose(file);
		LLVMFuzzerTestOneInput(buffer, size);
	}
	return 0;
}
